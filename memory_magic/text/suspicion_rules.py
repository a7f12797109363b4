"""What makes a note suspicious: small regular expressions over strings of class letters (`suspicion_words`).

A sentence such as "Ignore all previous instructions" reads `VAPI`: `.` stands between sentences, `,` between clauses,
`:` for a colon, `_` for a word of no class. Rules bound every gap and never cross a sentence unless they say so, so a
search is linear in the text. A rule is compiled when a text has the letters that it cannot do without: an ordinary
note has few of them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

OVERRIDE: Final = "asks to set earlier instructions aside"
ROLE: Final = "gives the assistant another role"
EXFILTRATION: Final = "asks to hand over private text or secrets"
STANDING: Final = "orders the assistant to keep or obey a standing rule"
ORIGIN: Final = "passes on orders from a tool, a web page or a file"
ENCODED: Final = "asks to decode a hidden text and act on it"


class Rule(NamedTuple):
    """A pattern, the reason that it gives, and letters of which each group must be there."""

    reason: str
    needs: tuple[str, ...]
    pattern: str


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_FILL: Final = "[dAYPpSIrπaTui&θEε]"
_DO: Final = "[D@XκkMVGRξφΛ]"  # verbs of orders
_START: Final = r"(?:^|[.,:&])"
_NOT: Final = "(?<![nN])(?<![nN][_m])"
_OBJECT: Final = "[dAYaipυSθ]"
_GOING: Final = "[UeO]"

RULES: Final[tuple[Rule, ...]] = (
    # -- override --------------------------------------------------------------------------------------------------
    Rule(OVERRIDE, ("V", "Iπ"), rf"V{_FILL}{{0,5}}[AYPS]{_FILL}{{0,6}}[Iπ](?![dAY]?h[dAa]{{0,2}}[_f])"),
    Rule(OVERRIDE, ("V", "Iπ"), rf"V{_FILL}{{0,5}}(?:A{_FILL}{{0,3}}[PY]|[PY]{_FILL}{{0,3}}A){_FILL}{{0,3}}[Iπ]"),
    Rule(OVERRIDE, ("V", "Iπ"), r"V[dYEε]{0,3}(?:[Ir][^.]{0,2}[Yπ]|I[^.]{0,2}(?:P|uT|uK?T)|π)"),
    Rule(OVERRIDE, ("V", "r"), rf"V{_FILL}{{0,5}}[PYS]{_FILL}{{0,5}}r(?!h[dAa]{{0,2}}[_f])"),
    Rule(OVERRIDE, ("V", "r"), r"V[dAY]{0,3}[S_]?r[^.]{0,3}(?:P|T)"),
    Rule(OVERRIDE, ("V", "ET"), r"V[dA]{0,2}E[^.]{0,4}T|V[dA]{0,2}E[du_]{0,3}P(?:$|[.,:&])|V_?u[^.]{0,2}T"),
    Rule(
        OVERRIDE,
        ("v", "Iπ"),
        rf"v{_FILL}{{0,4}}(?:P{_FILL}{{0,4}}[Iπ]|Y{_FILL}{{0,4}}[Irπ]|S[^.]?I)(?!h[dAa]{{0,2}}[_f])",
    ),
    Rule(OVERRIDE, ("v", "r"), rf"v{_FILL}{{0,3}}Y{_FILL}{{0,4}}r"),
    Rule(OVERRIDE, ("o",), r"(?:[PAY][dAPpSY]{0,3}[Iπ]|[Iπ]P|Y[PpS]{0,2}r|A[PpY]r|S[rI])[^.]{0,5}o"),
    Rule(OVERRIDE, ("o",), r"[Eε][^.]{0,8}T[^.]{0,6}o|[Eε]_{0,2}P[^.]{0,8}o|[P][rI][^.]{0,2}[oV]"),
    Rule(OVERRIDE, ("!",), r"!"),
    Rule(OVERRIDE, ("v", "I"), r"v[dA]{0,2}I[^.]{0,2}(?:uT|u_T|uiT|TS)|v[^.]{0,3}T[^.]{0,2}π"),
    Rule(OVERRIDE, ("Ŧ",), r"Ŧ[dA]{0,3}(?:[PYS][^.]{0,2}[Irπ]|π)"),
    Rule(OVERRIDE, ("n", "gG"), r"n[gGĢ][^.]{0,3}[YPS][^.]{0,2}[Irπ]|u[^.]{0,2}nm?[gGĢ][dAY_]{0,3}[Irπ]"),
    Rule(OVERRIDE, ("n", "PY"), r"n[dA]?[PY]p?[Irπ][^.]{0,4}(?:_|o)"),
    Rule(OVERRIDE, ("V", "Eε"), r"V_?[dA]{0,2}[Eε][^.]{0,4}[PT](?:$|[.,:&])|V[Eε]dS[cT]|Vy"),
    Rule(OVERRIDE, ("θ", "I"), r"θI[^.]{0,3}P|[YP]I.{0,6}θI"),
    Rule(OVERRIDE, ("P", "v"), r"P[rI][^.]{0,6}v[θd]"),
    Rule(OVERRIDE, ("L", "m"), r"L_?m_?[VGDξ]"),
    Rule(OVERRIDE, ("S", ":"), r"(?:^|[.,])S:[^.]{0,3}(?:u|V|G|L)"),
    Rule(OVERRIDE, ("V", "Iπr"), r"P[dAPpSYθT_]{0,3}[Irπ][dA,hθ]{0,4}V|A[dAPpSYθ]{0,3}I[dA,hθ]{0,4}V(?!_|f)"),
    Rule(OVERRIDE, ("V", "P"), r"[Pp][dT]{1,3}[Ir]d?V"),
    Rule(ENCODED, ("Θβ", "GgD@"), r"(?:Θ|β)[^.]{0,10}[GgD@]|[GgD@][^.]{0,4}Θ"),
    # -- role ------------------------------------------------------------------------------------------------------
    Rule(ROLE, ("q",), r"q"),
    Rule(ROLE, ("w",), r"w_?(?:a(?!_?0)|[ijĵ]|J|L|S?r?Y)|w[dai_,]{0,6}[jĵJLl]|w_,d?a"),
    Rule(ROLE, ("y",), rf"{_START}y[adi_,]{{0,5}}[jĵJL]|{_START}y(?:i|a(?!_?0))|y[^.]{{0,2}}J"),
    Rule(ROLE, ("u", "jĵJ"), r"u,d?L,_?a[^.]?[jĵJ]"),
    Rule(ROLE, ("t", "jĵJLl"), r"t[adiY]{0,2}_{0,2}S?_?[jĵJLl](?!_?0)|t[^.]{0,6}J"),
    Rule(ROLE, ("Ť",), rf"{_START}z?Ť(?:i|[ad](?!_{{0,2}}0))|Ť[adiY]{{0,2}}_{{0,2}}S?_?[jĵJLl](?!_?0)|Ť[^.]{{0,6}}J"),
    Rule(ROLE, ("J",), r"J[^.]{0,2}[Lljĵq]|[ulLYjĵ][^.]{0,6}J(?![_]?f)|[uL][^.]{0,8}J"),
    # -- exfiltration ----------------------------------------------------------------------------------------------
    Rule(
        EXFILTRATION,
        ("X", "KB%"),
        rf"{_NOT}X[^.]{{0,7}}[KB%][^.]{{0,9}}[UeOλ]|{_NOT}X[^.]{{0,3}}{_GOING}[^.]{{0,6}}[KB%]",
    ),
    Rule(EXFILTRATION, ("X", "sυ"), rf"^(?!.*9).*{_NOT}X(?:{_OBJECT}|_){{0,4}}(?:[sυ](?!_))[^.]{{0,6}}{_GOING}"),
    Rule(EXFILTRATION, ("X", "sυ"), rf"^(?!.*9).*{_NOT}X_?{_GOING}{_OBJECT}{{0,3}}_?[sυ]"),
    Rule(EXFILTRATION, ("X", "H"), r"H[^.]{0,3}X|X[^.]{0,14}H"),
    Rule(EXFILTRATION, ("X", "O"), rf"{_NOT}X[^.]{{0,6}}O"),
    Rule(EXFILTRATION, ("X", "i"), rf"{_NOT}X[dA]{{0,2}}[KB%]2i"),
    Rule(
        EXFILTRATION,
        ("RρXŘ", "π"),
        r"[RρXŘ][^.]{0,4}[uY][^.]?[π]|[RρXŘ][^.]{0,6}π.{0,8}ω|ρ[^.]{0,5}π|[RX]dπ(?:$|[.,:])|Eπ?[^.]{0,2}Yπ|E[^.]{0,2}Yπ",
    ),
    Rule(EXFILTRATION, ("RρŘ", "Irx"), r"[RρŘ][dAi]{0,3}Y[pPS]{0,2}[Ir]|[RρŘ][dA]{0,2}[Ixr]P[dh]?[uY]"),
    Rule(EXFILTRATION, ("R",), r"R[dAE]{0,2}[xErI_]?P(?:$|[.,:&])|R[^.]{0,5}ω.{0,3}[yu]"),
    Rule(EXFILTRATION, ("RXκ", "KBAs%"), rf"{_NOT}[RXκ][^.]{{0,3}}(?:[Aυ][^.]{{0,2}}s|[KB%])[^.]{{0,8}}[Qς]"),
    Rule(EXFILTRATION, ("ρ", "KBsE%"), r"ρ[dAYa]{0,3}_?(?:[KB%]|υ_?s)|ρ[AdY]{0,2}[AY]_?s|ρE[^.]{0,8}T"),
    Rule(
        EXFILTRATION,
        ("Xκφ", "λU", "KBυ"),
        r"[Xκ][^.]{0,8}[KBυ][^.]{0,8}[λU]|[Xκ][^.]{0,6}[λU][^.]{0,6}[KBυ]|φ[^.]{0,3}U[^.]{0,8}[KBυ]",
    ),
    Rule(EXFILTRATION, ("%", "χXκ"), r"χ[^.]{0,12}%|κ[^.]{0,3}%[^.]{0,6}[FeUQλX]|%[^.]{0,6}[Xκ][^.]{0,5}[UeOλ]"),
    Rule(EXFILTRATION, ("Ks", "Xκ"), r"[Ks][^.]{0,8},?&[^.]{0,3}[Xκ][^.]{0,5}[UeOλ]"),
    Rule(EXFILTRATION, ("Eε", "π"), r"[Eε]_{0,2}Yπ"),
    Rule(EXFILTRATION, ("X", "KsB%υ", "θ"), r"[KsB%υ][^.]{0,10}Xθ[^.]{0,3}[UeO]"),
    Rule(
        EXFILTRATION,
        ("ρŘ", "KsB"),
        rf"ρ[^.]{{0,4}}[KB]|ρ_[^.]{{0,5}}s|{_START}[d_]?Ř[^.]{{0,4}}[KsBπυ]|[mu2]Ř[^.]{{0,4}}[KsBπυ]",
    ),
    Rule(EXFILTRATION, ("O", "kκ"), r"[kκ][^.]{0,6}[KsB%][^.]{0,6}O|[κX][^.]{0,4}[Ks][^.]{0,5}λ[^.]{0,8}O"),
    Rule(EXFILTRATION, ("RXρŘ", "Y"), r"[RXρŘ][di]{0,2}Y[pPS]?[Iπ]"),
    Rule(EXFILTRATION, ("R", "%"), rf"{_START}[d_]?R[^.]{{0,3}}%"),
    Rule(EXFILTRATION, ("%K", "Q"), r"[%K][^.]{0,5}2A?Q"),
    Rule(EXFILTRATION, ("H", "κ"), r"Hκ[^.]{0,3}[Ks]"),
    Rule(EXFILTRATION, ("U", "Xφχ@"), r"[Xφχ@][^.]?KU"),
    Rule(EXFILTRATION, ("s", "KQ"), rf"{_NOT}[vXκR][dAYυ]{{0,2}}9?s[h2][daθY]?[KQ]"),
    Rule(EXFILTRATION, ("ξ",), rf"(?:{_START}|[mu2])[dH_]?ξ(?:{_OBJECT}|_){{0,4}}[Ksυ%OU]|ξ[^.]{{0,6}}[OU]"),
    Rule(EXFILTRATION, ("Ks%",), r"[Ks%][dh2_]{0,2}X[^.]{0,3}[UeO]"),
    Rule(EXFILTRATION, ("Kπυ", "XR"), r"[K][^.]{0,6}[UeOu][^.]{0,3}X|[KBυ]d?[UeO][^.]{0,2}X|π[d]?[XR]"),
    # -- standing rule ---------------------------------------------------------------------------------------------
    Rule(STANDING, ("M", "Ir"), r"M[^.,:]{0,3}θ[^.,:]{0,3}[Ir]|[θ][Ir][dh]{0,2}M|M[^.,:]{0,3}aη?[_]?η[Ir]"),
    Rule(STANDING, ("M", "Ir"), r"M[dY]{0,2}[pPA]{0,2}(?:η[Ir]|I)(?![_dh]*f)"),
    Rule(STANDING, ("M", "LGg"), r"L[^.]?mM|M2[Gg]"),
    Rule(STANDING, ("ς", "θ"), r"Aς.{0,6}θ[Ir]"),
    Rule(STANDING, ("Ḃ",), r"Ḃ"),
    Rule(STANDING, ("kMμ@", "θ"), r"[kMμ@]θa?η[Ir]|[kMμ]θ_[Ir]"),
    Rule(STANDING, ("M", "W"), r"M.{0,14}W"),
    Rule(STANDING, ("um", "MZ"), r"um[^.]?[MZ]"),
    Rule(STANDING, ("ď",), r"[Zzm][^.]{0,3}ď"),
    Rule(STANDING, ("Φ",), r"A[Qς]Φ"),
    Rule(STANDING, ("I", "A"), r"θI.{0,4}A[ςQ]"),
    Rule(STANDING, ("Y", "η"), r"Yη"),
    Rule(STANDING, ("θ", "ζε"), r"θ[Ir][^.]{0,4}[ζε]"),
    Rule(STANDING, ("G",), r"^G(?!f|9|d)"),
    Rule(STANDING, ("Ģ",), r"(?<![nN])Ģ[dθA]{0,2}[iI]|um[^.]?Ģ|zĢ(?!d|9)|Z[^.]{0,4}Ģ"),
    Rule(STANDING, ("Z", "Ŧ"), r"ZŦ.{0,8}(?:α|[dA]S)"),
    Rule(STANDING, ("k", "Irθ"), r"[kμ][^.,:]{0,3}θ[^.,:]{0,3}[Ir].{0,10}[ZζBbzGQηςuG]|[kμM]θ?[^.,:]{0,3}a?η[_]?[Ir]"),
    Rule(STANDING, ("kMμX@κ", "BḂ"), r"[kMμX@κ][^.]{0,12}B|B[^.]{0,8}[kMm]"),
    Rule(STANDING, ("kμM", "b"), r"[kμX]b[:,]|[kμ][^.]?θ[^.]{0,3}b|μ[^.]{0,5}b"),
    Rule(
        STANDING,
        ("QςA", "Φ"),
        r"Φ_?Q|AΦ?Q[^.]{0,3}(?:2|Φ)|[AΦ]Φ?_?[Qς].{0,14}(?:[GM]|um|u_?m)|(?:um|M|G|k).{0,12}[AΦ]Φ_?[Qς]",
    ),
    Rule(STANDING, ("A", "Q", "u"), r"AQu.{0,6}m"),
    Rule(STANDING, ("Z", "m"), r"Z,?(?:[dL]{0,2}[uL]_?m|mu|m[^.]?Λ|[^.]{0,6}Λ[^.]?[AE]|Λ[AE])|Z[^.]{0,4}z?(?:um|mu)"),
    Rule(STANDING, ("Z", "GΛα"), r"Z[^.]{0,6}G|G[^.]{0,8}[Zζ]|Z[^.]{0,4}Λ[^.]?[AE]|Z[^.]{0,8}Λ[^.]?m|[Zz].{0,10}α"),
    Rule(STANDING, ("η", "I"), r"ηI(?!h)|Iη"),
    Rule(STANDING, ("η", "r"), r"(?:[MkGuYμ@].{0,6})ηr|ηr:?.{0,8}[GuVΩW]|ηr.{0,8}Λ[AE]"),
    Rule(STANDING, ("G",), r"(?<![nN])G[dθiA]{0,2}[iIrxη]|[uL][^.]{0,2}m[^.]?G|zG(?!d|9)|GA?[ε]"),
    Rule(STANDING, ("g",), r"um[^.]?g[θdA]{0,2}[Ir_]|[zm]g[iθ][_]?I|[zZ]g[^.]?[iY]"),
    Rule(STANDING, ("ε",), r"[GgD@Λ]ε|zD.{0,3}ε"),
    Rule(STANDING, ("M", "θ"), r"Mθ_?(?:ζ|Z)|Mθ[.]?$"),
    Rule(STANDING, ("kMζ", "ζ"), r"[kM]θ[^.]{0,3}ζ|[Ir][^.]{0,6}ζ"),
    Rule(STANDING, ("τ",), r"τ.{0,16}(?:[HΩW]|α|[zm]_?σ.{0,8}[kM][θd]|Mθ)|τ.{0,12}m_?D"),
    Rule(STANDING, ("τ", "um"), r"τ.{0,10}um|τ[^.]{0,10},?[uz]m?[^.]?σ[^.]?[Uλ]"),
    Rule(STANDING, ("W",), r"(?<![nN])[zZA].{0,10}W|^(?!.*[nN]).*Λ[^.]?[AE][^.]{0,5}W|(?<![nN])[D@Λ]A[^.]{0,5}W"),
    Rule(STANDING, ("Ω",), r"Ω"),
    Rule(STANDING, ("ψ",), r"ψ.{0,8}[DKXWs@π%]|[kMμ].{0,6}ψ"),
    Rule(STANDING, ("Λ",), r"[MkμzZ].{0,6}Λ[AE]"),
    Rule(STANDING, ("M", "X"), r"M[:,]?X[^.]{0,4}[UO]"),
    # -- origin ----------------------------------------------------------------------------------------------------
    Rule(
        ORIGIN,
        ("Ff", "L"),
        r"[Ff][^.]{0,3}[cCT][:,]?[^.]{0,14}L|[Ff][^.]{0,5}[:,][^.]{0,4}L[^.]{0,5}(?:[mṡ]|[,:]|2|D)|[Ff][^.]{0,6}Rd?L2",
    ),
    Rule(
        ORIGIN, ("Ff", "lL", "cCT"), r"[Ff][^.]{0,3}[cCT][dAai,]{0,4}[lL](?:2|[^.]?m)|[Ff].{0,4}[cCT][:,]{0,2}[lL][,:]"
    ),
    Rule(ORIGIN, ("Ff", "C"), r"[Ff][^.]{0,4}C[dai2]{0,2}[Llui]|[Ff][^.]{0,3}C[^.]{0,3}[LluYD]"),
    Rule(ORIGIN, ("F", ":,cT"), rf"F[^.]{{0,5}}[:,c][^.]{{0,4}}(?:u_?[mṡ]|mu)[^.]{{0,3}}{_DO}"),
    Rule(ORIGIN, ("F", ":,cT"), r"F[^.]{0,5}[:,].{0,3}(?:D|V|G|M|Ω|H|ψ|!|Z)|F.{0,6}ψ"),
    Rule(ORIGIN, ("F", "cT"), r"F[^.]{0,2}[cT][iu]2(?:[kμ]θ|[DMGVX])|F[^.]{0,2}[cT]2[VDMG]"),
    Rule(ORIGIN, ("Þ", "F"), rf"Þd?_?F[^.]{{0,6}}(?:z|m_?{_DO}|um|mu|L|D|G|Z)"),
    Rule(
        ORIGIN,
        ("I", "F"),
        rf"I[^.]{{0,4}}F[:,][^.]{{0,3}}{_DO}|[GD@g]d?[Ir][^.]{{0,3}}h[daθ]{{0,2}}F[^.]{{0,3}}(?:W|z)",
    ),
    Rule(ORIGIN, ("Ff", "Č"), r"[Ff][^.]{0,8}Č"),
    Rule(ORIGIN, ("Ξ",), r"Ξ"),
    Rule(ORIGIN, ("f", "C"), r"f[^.]{0,6}C[^.]{0,4}[DΛXVvGM]"),
    Rule(ORIGIN, ("Ff", "lLu", "WΩH"), r"[Ff][^.]{0,3}[cCT:,][^.]{0,3}[lLu].{0,8}[WΩH]"),
    Rule(ORIGIN, ("F", "ƥ"), r"F[^.]{0,3}[cT:][:,]{0,2}ƥ"),
    Rule(ORIGIN, ("Ff", "VMG"), r"[Ff][^.]{0,3}[cCT][^.]{0,3}u?[mṡ][VMG]"),
    Rule(ORIGIN, ("Ff", "I"), r"[Ff]:.{0,3}I[:,]"),
    Rule(ORIGIN, ("F", "L"), r"F.{0,8}L[^.]{0,5}[mṡ]|L[^.]{0,4}F[^.]{0,4}m"),
    Rule(
        ORIGIN,
        ("FfÞ", "D"),
        r"[Ff][^.]{0,3}c[^.]{0,4}(?:mu|um|uD|um?D|m[^.]{0,4}D|D[^.]{0,4}m)|[Ff][:,][^.]{0,5}D|Þ[^.]?F[^.]{0,6}D",
    ),
)

_PLAIN: Final = str.maketrans("#§ů", "__S")
_GROUPS: Final = max(len(rule.needs) for rule in RULES)


def fitting(codes: str) -> str:
    """Return the reason of the first rule that fits *codes*, or an empty text."""
    plain = codes.translate(_PLAIN)
    left = _candidates(frozenset(plain))
    while left:
        lowest = left & -left
        rule = RULES[lowest.bit_length() - 1]
        if _compiled(rule.pattern).search(plain) is not None:
            return rule.reason
        left ^= lowest
    return ""


def _candidates(letters: frozenset[str]) -> int:
    """Return the rules, as bits, that have one of *letters* in each group of what they need."""
    possible = -1
    for free, holders in _holders():
        found = free
        for letter in letters:
            found |= holders.get(letter, 0)
        possible &= found
    return possible


@cache
def _holders() -> list[tuple[int, dict[str, int]]]:
    """Return for each place among the needs the rules that have none there, and letter -> rules that name it."""
    places = []
    for place in range(_GROUPS):
        free, holders = 0, dict[str, int]()
        for at, rule in enumerate(RULES):
            if place >= len(rule.needs):
                free |= 1 << at
                continue
            for letter in rule.needs[place]:
                holders[letter] = holders.get(letter, 0) | 1 << at
        places.append((free, holders))
    return places
