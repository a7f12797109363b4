"""Cues of Arabic."""

from __future__ import annotations

from memory_magic.pipeline.cues.lexicon import COMMITMENT, DECISION, FACT, OPINION, PLAN, PREFERENCE, Lexicon

ARABIC = Lexicon(
    cues=(
        (PREFERENCE, r"[يت]فض\u0651?ل|أفض\u0651?ل أن|أحب|يحب|يكره|[يت]ريد(?:ني)? (?:مني|أن)|دائم[اً]|لا تستخدم"),
        (DECISION, r"قرر|القرار:|اتفقنا|اخترنا|اختار|اعتماد|ننتقل|التحول من|سنعتمد"),
        (COMMITMENT, r"وعد|ألتزم|التزم|أتعهد|تعهد|(?:^|\s)سأ\w+"),
        (PLAN, r"(?:^|\s)سن\w+|سيتم"),
        (OPINION, r"أعتقد|أظن|أرى أن|في رأيي|بصراحة|رأيي|متشكك|أشك"),
        (FACT, r"تأكد|تم التأكيد|تأكيد|حقيقة|الموعد النهائي|للعلم"),
    ),
    quantity=r"\d|الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|الأحد|أسبوعين|يومين|شهرين",
    speaker=r"^(?:أنا|نحن|إذا|حاليا)",
    passing=r"غد[اً]|اليوم|أمس|حاليا|الآن",
    crowd=r"^بعض",
    doubtful=r"^(?:إذا|ربما)|(?:^|\s)هل ",
    ask=r"تذك\u0651?ر",
    report=r"^(?:تم|حسنا)(?=[\s،.])",
)
