"""Cues of English."""

from __future__ import annotations

from memory_magic.pipeline.cues.lexicon import (
    ADOPTION,
    COMMITMENT,
    DECISION,
    FACT,
    OPINION,
    PLAN,
    PREFERENCE,
    Lexicon,
    one_of,
)

_OPENING = r"^(?:(?:please|and|so|but|also|again|no|ok(?:ay)?|instead)[,:]? )*"

_PREFERENCE = one_of(
    r"\bprefers?\b",
    r"\bpreferred\b(?! (?:to|not) )",
    r"(?<!but )\b(?:i|he|she|they|we)(?:['’]d| would) (?:much |far )?(?:rather|prefer)\b",
    r"\bwants? (?:me|us) to\b",
    r"\bi(?: do)? want you to (?:always|never|only)\b",
    r"\b(?:i|he|she|we) (?:really |strongly |always |generally )*(?:like|love|hate|dislike|enjoy)s?\b",
    r"\bi (?:don['’]t|do not) (?:like|want)\b",
    r"\bfavou?rite\b",
    rf"{_OPENING}(?:always|never|from now on|going forward|in (?:the )?future|by default)\b",
    rf"{_OPENING}(?:don['’]t|do not|stop|avoid) \w+",
    r"\bplease (?:always|never|stop|avoid)\b|\bremember to\b",
    rf"{_OPENING}no (?!errors?\b|problems?\b|issues?\b|changes?\b)[a-z]+ (?:in|on|for) ",
    r"\bi (?:told|asked) you (?:to|not to|never|that)\b",
    r"\b(?:answer|reply|respond|write) (?:to me )?in (?:english|chinese|hindi|japanese|german|french|spanish)\b",
    rf"{_OPENING}(?:use|keep|name|format)\b.*(?:,? not\b|\binstead of\b|\brather than\b|\bnever\b)",
)
_DECISION = one_of(
    r"\bdecid(?:ed|es)\b",
    r"(?<!the )\bdecision(?: made)?(?: on [^:]*)?:",
    r"\bdecision made\b",
    r"\b(?:we|i|they|you) (?:have |all )?(?:agreed|chose|picked|opted|settled on|went with|ruled out|approved|rejected"
    r"|dropped|abandoned|adopted|standardi[sz]ed)\b",
    r"\b(?:we|i|they)['’]ve (?:agreed|chosen|picked|opted|settled|ruled out|adopted)\b",
    r"\bagreed(?: to| on|:)",
    r"\bsettled on\b",
    r"\b(?:we|i)(?:['’]re| are|['’]m| am) (?:switching|moving|migrating|dropping|adopting|standardi[sz]ing"
    r"|going with|sticking with|keeping)\b",
    r"\blet['’]s (?:go with|switch|stick|standardi[sz]e|drop|adopt)\b",
    r"\bno longer (?:use|using|support)\b",
)
_ADOPTION = one_of(
    r"^(?:adopting|switching|adjusting|building|moving|migrating|dropping|standardi[sz]ing|going with)\b",
    r"^will (?:[a-z]+ ){1,2}(?:all|every|only)\b",
)
_COMMITMENT = one_of(
    r"\bpromised?\b",
    r"\bcommit(?:ted|ting|s)? to (?:\w+ing|a|an|the|one|two|three)\b",
    r"\b(?:you have|gave) my word\b",
    r"(?<!but )(?<!if )\bi(?:['’]ll| will|['’]m going to| am going to) (?!(?:keep|continue|be able|need|have to)\b)",
    r"\bi owe\b",
    r"\bsaid yes\b",
)
_PLAN = one_of(
    r"\bwe(?:['’]ll| will) (?!need\b|have to\b|see\b)",
    r"^will\b",
    r"^(?:updating|pushing|scheduling|preparing|planning)\b",
)
_OPINION = one_of(
    r"\bi (?:really |honestly |still |just |don['’]t )?(?:think|believe|feel|find|doubt|suspect|reckon)\b",
    r"\bin my (?:opinion|view|experience)\b",
    r"\bmy (?:take|view|opinion|read|impression|sense|feeling|guess)\b",
    r"\b(?:honestly|frankly|personally)\b|\bto be honest\b|\bimh?o\b",
    r"\bi(?:['’]m| am) (?:skeptical|sceptical|unconvinced|not convinced|convinced|worried|in favou?r|against)\b",
    r"\bseems to me\b|\b(?:over|under)rated\b",
)
_FACT = one_of(
    r"\bconfirmed\b(?! (?:that )?i\b)",
    r"\bfacts?\b(?: for| worth|:)",
    r"\bfor the record\b|\bfyi\b|\bworth noting\b|\bnoted:|\bturns out\b",
    r"\bdeadline (?:is|was)\b",
    r"\bwe (?:use|run|deploy|host|store|ship)\b",
    r"\b(?:is|are) (?:called|named|located|stored|hosted|owned|maintained)\b|\blives? (?:in|at|under)\b",
    r"\b(?:my|our) \w+(?: \w+)? (?:is|are|runs|uses|lives)\b",
)

_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundreds?|thousands?|half|twice"
_DATES = (
    "january|february|march|april|june|july|august|september|october|november|december"
    "|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?"
    "|midnight|noon|daily|weekly|monthly|yearly"
)
_VERB = (
    r"\b(?:is|are|was|were|has|have|had|says?|goes|go|went|runs?|ran|takes?|took|costs?|needs?|requires?|uses?"
    r"|contains?|lasts?|opens?|closes?|starts?|ends?|begins?|began|returns?|expires?|supports?|holds?|means?|equals?"
    r"|exceeds?|sits?|lies|listens?|falls?|rises?|rose|grew|grows?|weighs?|measures?|\w{2,}ed)\b|\w['’]s\b"
)
_LEAD_IN = (
    r"^(?:(?:and|also|so|but|well|ok(?:ay)?|no|yes|btw|honestly|frankly|just confirmed|confirmed|noted|note|remember"
    r"|fyi|for the record|(?:quick |key |one |two |three |some |a few )?facts?(?: for the file| worth (?:filing|noting"
    r"|knowing))?)[,:]\s+|(?:and|also|please remember(?: that)?:?|remember that|note that)\s+)+"
)
_WORK = (
    r"run|ran|running|check\w*|look\w*|inspect\w*|read|reading|open\w*|search\w*|start\w*|begin|try|create\w*|creating"
    r"|add\w*|updat\w+|fix\w*|edit\w*|implement\w*|make|made|do|use|test\w*|write|writing|wrote|written|install\w*"
    r"|execut\w+|appl\w+|take|go|see|verif\w+|explor\w+|examin\w+|remov\w+|chang\w+|found"
)
_REPORT = one_of(
    r"^(?:done|ok|okay|sure|great|perfect|all set|let me|first|next|then|now|finally)\b",
    rf"^(?:i|we)(?:['’]ve| have|['’]m| am)? ?(?:just |now |also |already )*(?:{_WORK})\b",
    rf"\b(?:i|we)(?:['’]ll| will|['’]m going to) (?:now |first |also |then |just |start by |begin by )*(?:{_WORK})\b",
    r"\b(?:tests?|commands?|files?|lines?|errors?|warnings?|rows?|columns?|cells?|bytes|ms|seconds)"
    r" (?:pass|fail|ran|run|found|changed|added)",
    r"\b(?:exit(?:ed)?|return) (?:code|status)\b|\bthis answer\b",
    r"^there (?:is|are)\b|^(?:the|this|that|your) (?:function|file|class|method|script|notebook|cell|test|line|command"
    r"|directory|folder|code|fix|change|patch|output|result|plot)s?\b",
)

ENGLISH = Lexicon(
    cues=(
        (PREFERENCE, _PREFERENCE),
        (DECISION, _DECISION),
        (ADOPTION, _ADOPTION),
        (COMMITMENT, _COMMITMENT),
        (PLAN, _PLAN),
        (OPINION, _OPINION),
        (FACT, _FACT),
    ),
    quantity=rf"\d|\b(?:{_NUMBERS}|{_DATES})\b",
    verb=_VERB,
    speaker=r"^(?:(?:and|but|so|or|then) )?"
    r"(?:i|we|you|let|please|now|can|could|would|should|do|did|does|when|unless"
    r"|add|build|change|check|compute|create|explain|find|fix|give|implement|load|make|plot|read|remove|run|show|sort|try"
    r"|write)\b",
    future=r"\bwill\b",
    passing=r"\b(?:tomorrow|today|tonight|yesterday|currently|(?:right|just|for) now|at the moment"
    r"|this (?:morning|afternoon|evening|time)|yet|later|fail(?:s|ing|ed)|broken|crash(?:es|ing|ed))\b",
    crowd=r"^(?:some|many|most|few|other)\b",
    hedge=one_of(
        r"\b(?:just|only) (?:my|a) (?:read|take|opinion|view|guess|two cents|personal)\b",
        r"\b(?:mostly|purely) (?:a )?(?:personal|aesthetic)\b",
        r"^my opinion,|\bputting it on my list\b|\bfeel strongly about it\b",
        r"^don['’]t worry\b|^never ?mind\b|\bi (?:really )?(?:love|like) (?:it|this|that)\b",
        r"\bi think (?:the|this|that) (?:issue|problem|bug|error|cause|failure|fix|test)\b",
    ),
    doubtful=one_of(
        r"^(?:if|suppose|imagine|what if|maybe|perhaps)\b|\bfor example\b|\blet me know\b|\bwould you like\b",
        r"\b(?:i|we) (?:could|might|may)\b|\b(?:do|should|shall) (?:i|we|you)\b",
    ),
    lead_in=_LEAD_IN,
    motive=r",? so (?:that )?(?:they|she|he|we|i|you|it)\b.*(?=[.!]$)",
    also=r"^(?:and|also|in addition|additionally|second(?:ly)?|another|plus)\b",
    report=_REPORT,
    ask=r"\bremember\b|\bkeep in mind\b|\bnote that\b|\bdon['’]t forget\b",
    lasting=r"\b(?:always|never|from now on|going forward|in (?:the )?future|every time|accordingly)\b",
    small_words="the and of to is in that for with was are this it you not be have will i my we on an or as",
)
