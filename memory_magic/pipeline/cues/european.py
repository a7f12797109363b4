"""Core cues of Spanish, French, German, Portuguese, Italian and Russian."""

from __future__ import annotations

from memory_magic.pipeline.cues.lexicon import (
    COMMITMENT,
    DECISION,
    FACT,
    OPINION,
    PLAN,
    PREFERENCE,
    Lexicon,
    one_of,
)

SPANISH = Lexicon(
    cues=(
        (
            PREFERENCE,
            one_of(
                r"\bpref[ei]+r(?:o|e|en|imos|iría)\b|\b(?:me|le|les) gusta\b|\bodi[oa]\b|\bquiere que\b",
                r"^(?:por favor,? )?(?:siempre|nunca|no uses)\b",
            ),
        ),
        (
            DECISION,
            one_of(
                r"\bdecidi(?:do|ó|mos|r|eron)\b|\bdecidí\b|\bdecisión(?: tomada|:| sobre)",
                r"\b(?:acordamos|acordado|elegimos|elegí|optamos|adoptamos|adoptando|cambiamos|nos quedamos con)\b",
            ),
        ),
        (COMMITMENT, r"\bpromet[iíeo]\w*|\bcomprom[ei]t\w+|\bvoy a\b|\b\w{2,}(?:aré|eré|iré)\b"),
        (PLAN, r"\b(?:\w{3,}remos|vamos a)\b|^se \w+(?:ará|erá|irá)n?\b"),
        (
            OPINION,
            one_of(
                r"\b(?:creo|pienso|considero|opino|dudo|me parece)\b|\ben mi opinión\b|\bescéptic",
                r"\bmi (?:opinión|impresión|lectura)\b|\b(?:sinceramente|honestamente|francamente)\b",
            ),
        ),
        (FACT, r"\bconfirmad[oa]\b|\bhechos?\b ?:|\bfecha límite\b|\bdato\b|\bpara que conste\b"),
    ),
    quantity=r"\d|\b(?:dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez"
    r"|lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b",
    speaker=r"^(?:yo|nosotros|si|actualmente|tenemos|hemos|he)\b",
    hedge=r"\bes solo mi\b",
    passing=r"\b(?:mañana|hoy|ayer|actualmente|ahora mismo)\b",
    crowd=r"^(?:algun[oa]s|much[oa]s)\b",
    doubtful=r"^(?:si|quizás|tal vez)\b|^¿",
    lead_in=r"^(?:(?:sinceramente|honestamente|hecho|confirmado|y|además)[,:]\s+)+",
    report=r"^(?:listo|hecho|vale)\b",
    ask=r"\brecuerda\b",
    small_words="el la los las de que y en un una para con por no se es del al su lo más",
)

FRENCH = Lexicon(
    cues=(
        (
            PREFERENCE,
            one_of(
                r"\bpréf(?:ère|èrent|érons|érerai[st]?)\b|\b(?:j['’]|il |elle )(?:aime|adore|déteste)\b",
                r"\b(?:souhaite|veut) que\b|^(?:toujours|jamais|ne jamais|n['’]utilise)\b",
            ),
        ),
        (
            DECISION,
            one_of(
                r"\bdécid(?:é|ée|ons|er)\b|\bdécision(?: prise| ?:| concernant)|\bpass(?:er|ons) de\b",
                r"\b(?:convenu|choisi|opté|adopté|adoptons|adopte|retenu)\b",
            ),
        ),
        (COMMITMENT, r"\bprom(?:is|ets|ettre|esse)\b|\bengag(?:e|é|ée)\b|\bje (?:vais|\w{2,}rai)\b|\bj['’]\w{2,}rai\b"),
        (PLAN, r"\bnous (?:\w{2,}rons|allons)\b|\bon (?:va|\w{2,}ra)\b"),
        (
            OPINION,
            one_of(
                r"\bje (?:pense|crois|trouve|doute|suis sceptique)\b|\bà mon avis\b|\bselon moi\b|\bsceptique\b",
                r"\bmon (?:avis|opinion|impression)\b|\b(?:honnêtement|franchement)\b",
            ),
        ),
        (FACT, r"\bconfirm(?:é|ée|ation)\b|\bfaits?\b ?:|\bdate limite\b|\bpour info\b|\bà noter\b"),
    ),
    quantity=r"\d|\b(?:deux|trois|quatre|cinq|six|sept|huit|neuf|dix"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b",
    speaker=r"^(?:je|nous|si|on|actuellement)\b|^j['’]",
    hedge=r"\bce n['’]est que mon\b|\bjuste mon\b",
    passing=r"\b(?:demain|aujourd['’]hui|hier|actuellement|pour l['’]instant)\b",
    crowd=r"^(?:certain(?:e?s)|beaucoup)\b",
    doubtful=r"^(?:si|peut-être)\b",
    lead_in=r"^(?:(?:honnêtement|franchement|fait|confirmé|et|aussi) ?[,:]\s+)+",
    ask=r"\bsouviens-toi\b|\bn['’]oublie pas\b",
    report=r"^(?:terminé|voilà|d['’]accord)\b",
    small_words="le la les de des et un une pour que dans est au du en sur pas avec plus ce qui",
)

GERMAN = Lexicon(
    cues=(
        (
            PREFERENCE,
            one_of(
                r"\bbevorzug\w*|\bzieht? .* vor\b|\b(?:mag|mögen|hasse|hasst|liebt?)\b|\blieber\b",
                r"\b(?:möchte|will), dass\b|^(?:bitte )?(?:immer|nie|niemals|verwende|nutze)\b",
            ),
        ),
        (
            DECISION,
            one_of(
                r"\b(?:entschieden|entschied|beschlossen|vereinbart|geeinigt|gewählt|ausgewählt|übernehme\w*)\b",
                r"\bentscheidung(?: getroffen|:| für| über)|\b(?:wechseln|umsteigen|umstellen) (?:von|auf|zu)\b",
            ),
        ),
        (COMMITMENT, r"\bversprech\w*|\bversprochen\b|\bverpflicht\w*|\bzugesagt\b|\b(?:ich werde|werde ich)\b"),
        (PLAN, r"\bwir werden\b|\bwerden wir\b|^w[ei]rde?\b"),
        (
            OPINION,
            one_of(
                r"\bich (?:denke|glaube|finde|meine|bezweifle|halte)\b|\bmeiner (?:meinung|ansicht) nach\b",
                r"\bmeine (?:meinung|sicht|einschätzung)\b|\b(?:ehrlich|offen) gesagt\b|\bskeptisch\b",
            ),
        ),
        (FACT, r"\bbestätigt\b|\bfakt(?:en)?\b|\btatsache\b|\bfrist\b|\b\w*(?:termin|schluss) ist\b|\bzur info\b"),
    ),
    quantity=r"\d|\b(?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?)\b",
    speaker=r"^(?:ich|wir|du|wenn|falls|derzeit|aktuell)\b",
    hedge=r"\bnur meine\b",
    passing=r"\b(?:morgen|heute|gestern|derzeit|aktuell|momentan)\b",
    crowd=r"^(?:einige|manche|viele)\b",
    doubtful=r"^(?:wenn|falls|vielleicht)\b",
    lead_in=r"^(?:(?:ehrlich gesagt|offen gesagt|fakt|bestätigt|und|auch)[,:]\s+)+",
    ask=r"\bmerk dir\b|\bdenk daran\b|\bvergiss nicht\b",
    report=r"^(?:fertig|erledigt|okay)\b",
    small_words="der die das und den dem ein eine ist nicht mit für von zu auf im wir ich wird sich",
)

PORTUGUESE = Lexicon(
    cues=(
        (
            PREFERENCE,
            one_of(
                r"\bpref(?:iro|ere|erem|erimos|eriria)\b|\b(?:gosto|gosta|odeio|odeia)\b|\bquer que\b",
                r"^(?:por favor,? )?(?:sempre|nunca|não use)\b",
            ),
        ),
        (
            DECISION,
            one_of(
                r"\bdecidi(?:u|mos|do|r)?\b|\bdecisão(?: tomada|:| sobre)|\b(?:mudar|trocar) de\b",
                r"\b(?:concordamos|escolhemos|escolhi|optamos|adotamos|adotando|combinamos)\b",
            ),
        ),
        (COMMITMENT, r"\bpromet\w+|\bcomprom[ei]t\w+|\bcompromisso\b|\bvou\b|\b\w{3,}(?:arei|erei|irei)\b"),
        (PLAN, r"\b(?:vamos|\w{3,}remos)\b"),
        (
            OPINION,
            one_of(
                r"\b(?:acho|acredito|penso|considero|duvido)\b|\bna minha opinião\b|\bcétic[oa]\b",
                r"\bminha (?:opinião|visão|leitura)\b|\b(?:honestamente|sinceramente|francamente)\b",
            ),
        ),
        (FACT, r"\bconfirmad[oa]\b|\bfatos?\b ?:|\bprazo\b|\bpara registro\b"),
    ),
    quantity=r"\d|\b(?:dois|duas|três|quatro|cinco|seis|sete|oito|nove|dez"
    r"|segunda|terça|quarta|quinta|sexta|sábado|domingo)\b",
    speaker=r"^(?:eu|nós|se|atualmente|temos)\b",
    passing=r"\b(?:amanhã|hoje|ontem|atualmente|agora)\b",
    crowd=r"^(?:algun?s|algumas|muit[oa]s)\b",
    doubtful=r"^(?:se|talvez)\b",
    lead_in=r"^(?:(?:honestamente|sinceramente|fato|confirmado|e|também)[,:]\s+)+",
    ask=r"\blembr[ea]\b",
    report=r"^(?:pronto|feito)\b",
    small_words="o os as de que e em um uma para com não do da no na dos das ao por mais é",
)

ITALIAN = Lexicon(
    cues=(
        (
            PREFERENCE,
            one_of(
                r"\bprefer(?:isce|iscono|isco|iamo|irebbe|irei)\b|\b(?:mi|gli|le) piace\b|\bodi[oa]\b|\bvuole che\b",
                r"^(?:per favore,? )?(?:sempre|mai|non usare)\b",
            ),
        ),
        (
            DECISION,
            one_of(
                r"\bdeciso\b|\bdecisione(?: presa|:| su)|\bpassare da\b",
                r"\b(?:concordato|scelto|optato|adottiamo|adotto|adottando|stabilito)\b",
            ),
        ),
        (COMMITMENT, r"\bpromess\w+|\bprometto\b|\bimpegn(?:o|ato|ata)\b|\b\w{2,}(?:erò|irò|rrò)\b|\bfarò\b"),
        (PLAN, r"\b\w{3,}remo\b"),
        (
            OPINION,
            one_of(
                r"\b(?:penso|credo|ritengo|trovo|dubito)\b|\bsecondo me\b|\ba mio (?:parere|avviso)\b|\bscettic[oa]\b",
                r"\bla mia (?:opinione|impressione)\b|\b(?:onestamente|francamente|sinceramente)\b",
            ),
        ),
        (FACT, r"\bconfermat[oa]\b|\bfatt[oi]\b ?:|\bscadenza\b|\bper la cronaca\b"),
    ),
    quantity=r"\d|\b(?:due|tre|quattro|cinque|sei|sette|otto|nove|dieci"
    r"|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)\b",
    speaker=r"^(?:io|noi|se|attualmente|abbiamo)\b",
    passing=r"\b(?:domani|oggi|ieri|attualmente|adesso)\b",
    crowd=r"^(?:alcun[ie]|molt[ie])\b",
    doubtful=r"^(?:se|forse)\b",
    lead_in=r"^(?:(?:onestamente|sinceramente|fatto|confermato|e|inoltre)[,:]\s+)+",
    ask=r"\bricorda(?:ti)?\b",
    report=r"^(?:fatto|finito)\b",
    small_words="il lo gli di che e un una per con non è del della nel al più dei delle si ha",
)

RUSSIAN = Lexicon(
    cues=(
        (
            PREFERENCE,
            one_of(
                r"предпоч|нравится|не люб|люблю|хочет, чтобы|не надо|пожалуйста, не",
                r"^(?:всегда|никогда не)\b",
            ),
        ),
        (
            DECISION,
            one_of(
                r"\bреши(?:л|ла|ли|ено|ть)\b|\bрешено\b|решение(?: принято| по\b|:)|принято решение|договорились",
                r"согласились|\bвыбра(?:л|ла|ли|но|н)\b|переход(?:им|ит) на|остановились на|отказа(?:лись|ться)",
            ),
        ),
        (
            COMMITMENT,
            one_of(
                r"обеща|обязу|обязал|берусь|даю слово",
                r"\bя (?:\w+ )?\w{3,}(?:лю|жу|чу|шу|ую|ану|ою)\b|\bя (?:\w+ )?буду\b",
            ),
        ),
        (PLAN, r"\bмы (?:\w+ )?(?:\w+[еи]м|будем)\b|^(?:будем|начн[её]м)"),
        (
            OPINION,
            one_of(
                r"я (?:думаю|считаю|полагаю|сомневаюсь)|мне кажется|по-моему|на мой взгляд",
                r"честно говоря|мо[её] мнение|скептич",
            ),
        ),
        (FACT, r"подтвержд|\bфакт|крайний срок|срок подачи|для справки|к сведению|выяснилось"),
    ),
    quantity=r"\d|\b(?:два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|понедельник|вторник|сред[уыа]|четверг"
    r"|пятниц|суббот|воскресень)",
    speaker=r"^(?:я|мы|вы|ты|если|сейчас)\b",
    hedge=r"это (?:просто|лишь) мо",
    passing=r"\b(?:завтра|сегодня|вчера|сейчас|пока)\b",
    crowd=r"^(?:некоторые|многие)\b",
    doubtful=r"^если|возможно|может быть",
    lead_in=r"^(?:(?:честно говоря|факт|подтверждено|и|также)[,:]\s+)+",
    ask=r"\bзапомни\b|\bне забудь\b",
    report=r"^(?:готово|хорошо|сделано)\b",
)
