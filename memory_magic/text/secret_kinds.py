"""What secrets look like: the prefixes by which providers mark their keys, and the words by which people name them.

Data only, written from the providers' public documentation; `secret_judge` and `secret_finders` give it meaning. Grown
by adding a line, never by adding code.

A row of `PREFIXES` is `kind: ("prefix rule", …)`. The rule is one letter for the characters of the body and how many of
them there must be: `a20` at least twenty letters or digits, `h32-32` exactly thirty-two hexadecimal digits. A body of
exact length must end at a word boundary. Bodies are: `a` letters and digits, `b` Base64 in both alphabets, `d` letters,
digits, `.`, `-`, `_`, `h` hexadecimal, `l` letters, `m` letters, digits and `$`, `q` Base64 in both alphabets with `.`,
`,`, `%`, `u` capital letters and digits, `w` letters, digits, `-`, `_`.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    """Write a set of words as people read them."""
    return frozenset(text.split())


MARKER: Final = "[REDACTED_SECRET]"
"""What stands in the place of a secret, everywhere."""

CHARACTERS: Final = {
    "a": "A-Za-z0-9",
    "b": r"A-Za-z0-9+/=_\-",
    "d": r"A-Za-z0-9._\-",
    "h": "A-Fa-f0-9",
    "l": "A-Za-z",
    "m": "A-Za-z0-9$",
    "q": r"A-Za-z0-9+/=_.,%\-",
    "u": "A-Z0-9",
    "w": r"A-Za-z0-9_\-",
}

PREFIXES: Final[dict[str, tuple[str, ...]]] = {
    # models and what surrounds them
    "anthropic": ("sk-ant- w24",),
    "openai": ("sk-proj- w16", "sk-svcacct- w16", "sk-admin- w16", "sk-None- w16"),
    "openrouter": ("sk-or-v1- w32",),
    "langfuse": ("sk-lf- w32", "pk-lf- w32"),
    "api_key": ("sk- w16", "sk_ a24", "pat_ a40"),
    "hugging_face": ("hf_ a30", "api_org_ l30-40"),
    "groq": ("gsk_ a30",),
    "xai": ("xai- a40",),
    "perplexity": ("pplx- a40",),
    "replicate": ("r8_ a32",),
    "langsmith": ("lsv2_pt_ w30", "lsv2_sk_ w30", "ls__ a32"),
    "pinecone": ("pcsk_ w30",),
    "nvidia": ("nvapi- w40",),
    "fireworks": ("fw_ a20",),
    "together": ("tgp_v1_ w30",),
    "jina": ("jina_ a40",),
    "tavily": ("tvly- w20",),
    "firecrawl": ("fc- h32-32",),
    "voyage": ("pa- w40",),
    "cerebras": ("csk- a40",),
    "anyscale": ("esecret_ a20",),
    "wandb": ("wandb_v1_ w40",),
    "posthog": ("phx_ a30", "phc_ a30"),
    "mem0": ("m0- a30",),
    "runpod": ("rpa_ a36",),
    "modal": ("ak- a22-22", "as- a22-22"),
    "e2b": ("e2b_ h40-40",),
    "apify": ("apify_api_ a30",),
    "kaggle": ("KGAT_ h32-32",),
    "figma": ("figd_ w36",),
    "context7": ("ctx7sk- w30",),
    # code, packages, builds
    "github": ("ghp_ a30", "gho_ a30", "ghu_ a30", "ghs_ a30", "ghr_ a30", "github_pat_ w22"),
    "gitlab": (
        *(f"gl{kind}- d16" for kind in ("pat", "dt", "ft", "rt", "rtr", "soat", "cbt", "ptt", "oas", "agent", "imt")),
        "glffct- d16",
        "gloas- d16",
        "glwt- d16",
        "GR1348941 w18",
    ),
    "atlassian": ("ATATT3 b60", "ATCTT3 b60", "ATOA b60", "ATBB a24"),
    "bitbucket": ("BBDC- b40",),
    "npm": ("npm_ a36",),
    "pypi": ("pypi-AgE w50", "pypi- w60"),
    "rubygems": ("rubygems_ h48-48",),
    "crates": ("cio a32-32",),
    "clojars": ("CLOJARS_ a60",),
    "nuget": ("oy2 a43-43",),
    "docker": ("dckr_pat_ w24", "dckr_oat_ w24"),
    "open_vsx": ("ovsxp_ w24", "ovsxat_ w24"),
    "circleci": ("CCIPAT_ w40", "CCIPRJ_ w40"),
    "buildkite": ("bkua_ a32", "bkct_ a32"),
    "sonar": ("squ_ h40-40", "sqp_ h40-40", "sqa_ h40-40"),
    "sourcegraph": ("sgp_ h40-40", "sgp_ w57-57", "sgp_local_ h40-40", "slk_ h64-64"),
    "pulumi": ("pul- h40-40",),
    "infracost": ("ico- a32-32",),
    "artifactory": ("AKCp a60", "cmVmd a59"),
    "postman": ("PMAK- w50", "PMAT- w20"),
    "prefect": ("pnu_ a36-36", "pnb_ a36-36"),
    "octopus": ("API- u26-26",),
    "readme": ("rdme_ a60",),
    "val_town": ("vtwn_ w20",),
    "tailscale": ("tskey- w20",),
    "defined": ("dnkey- w60",),
    "trigger": ("tr_dev_ a20", "tr_prod_ a20", "tr_pat_ a20"),
    # clouds and hosting
    "aws": (
        "A3T u17-17",
        "AKIA u16-16",
        "ASIA u16-16",
        "ABIA u16-16",
        "ACCA u16-16",
        "ABSK b80",
        "bedrock-api-key- b20",
    ),
    "amazon": ("amzn.mws. w36", "amzn1.oa2-cs.v1. a30"),
    "google": ("AIza w35-35", "GOCSPX- w20", "ya29. d30", "1//0 w30", "APA91b w100"),
    "azure": ("AzureKey_ w20",),
    "alibaba": ("LTAI a12-24",),
    "tencent": ("AKID a32",),
    "volcengine": ("AKLT a30",),
    "baidu": ("bce-v3/ALTAK- b30",),
    "yandex": ("AQVN w35", "t1.9euel q80", "y0_ w40"),
    "digitalocean": ("dop_v1_ h40", "doo_v1_ h40", "dor_v1_ h40"),
    "heroku": ("HRKU- w30",),
    "netlify": ("nfp_ a30", "nfc_ a30", "nfo_ a30"),
    "vercel": ("vcp_ a24", "vci_ a24", "vca_ a24", "vcr_ a24", "vck_ a24"),
    "fly": ("fo1_ w36", "fm1r_ q60", "fm1a_ q60", "fm2_ q60"),
    "render": ("rnd_ a24",),
    "scalingo": ("tk-us- w36",),
    "cloudflare": ("v1.0- w150", "cfut_ w36", "cfat_ w36"),
    "databricks": ("dapi h32-32", "dkea h32-32", "dose h32-32"),
    "aiven": ("AVNS_ w16",),
    "planetscale": ("pscale_tkn_ d24", "pscale_pw_ d24", "pscale_oauth_ d24"),
    "supabase": ("sbp_ h40-40", "sb_secret_ w20"),
    "neon": ("napi_ a40",),
    "xata": ("xau_ a30",),
    "mongodb": ("mdb_sa_sk_ w36",),
    "openshift": ("sha256~ w40",),
    "hashicorp": ("hvs. w24", "hvb. w24", "hvr. w24"),
    "doppler": tuple(f"dp.{kind}. d36" for kind in ("pt", "st", "ct", "sa", "scim", "audit", "said")),
    "one_password": ("ops_eyJ b100",),
    "age": ("AGE-SECRET-KEY-1 u40",),
    "bitwarden": ("BWS_ w30",),
    "settlemint": ("sm_pat_ a16", "sm_aat_ a16", "sm_sat_ a16"),
    "confluent": ("cflt a40",),
    "contentful": ("CFPAT- w36",),
    "launchdarkly": ("sdk- w36-36", "mob- w36-36"),
    # watching
    "grafana": ("glc_ b32", "glsa_ w40", "eyJrIjoi b60"),
    "dynatrace": ("dt0c01. d60", "dt0s01. d60", "dt0s02. d60", "dt0s16. d60"),
    "new_relic": ("NRAK- a24", "NRII- w28", "NRJS- a19", "NRRA- a36", "NRIQ- w28", "NRSP- w28"),
    "sentry": ("sntrys_ b60", "sntryu_ h64-64", "sntrya_ h64-64"),
    "axiom": ("xaat- w36", "xapt- w36"),
    # money
    "stripe": (
        *(f"{who}_{where}_ a16" for who in ("sk", "rk") for where in ("live", "test", "prod")),
        "whsec_ b24",
    ),
    "square": ("sq0atp- w22", "sq0csp- w40", "EAAA w40-64"),
    "shopify": tuple(f"shp{kind}_ h32-32" for kind in ("at", "ca", "pa", "ss", "tka", "ua")),
    "shippo": ("shippo_live_ h40-40", "shippo_test_ h40-40"),
    "easypost": ("EZAK a50", "EZTK a50"),
    "duffel": ("duffel_live_ w36", "duffel_test_ w36"),
    "plaid": tuple(f"access-{where}- w36" for where in ("sandbox", "development", "production")),
    "flutterwave": ("FLWSECK_TEST- w12", "FLWSECK- w20", "FLWPUBK_TEST- w20", "FLWPUBK- w20"),
    "braintree": ("access_token$production$ m30", "access_token$sandbox$ m30"),
    "razorpay": ("rzp_live_ a14-14", "rzp_test_ a14-14"),
    "gocardless": ("live_ w40-40", "sandbox_ w40-40"),
    "polar": ("polar_oat_ w24", "polar_pat_ w24"),
    # people and messages
    "slack": (
        *(f"xox{kind}- w12" for kind in "abcdeoprs"),
        "xoxe.xoxb- w30",
        "xoxe.xoxp- w30",
        "xapp- w30",
    ),
    "facebook": ("EAA a90",),
    "instagram": ("IGQV w80",),
    "airtable": ("pat_key_ a14",),
    "notion": ("ntn_ a40-56", "secret_ a40-46"),
    "linear": ("lin_api_ a36", "lin_oauth_ a36"),
    "typeform": ("tfp_ d36",),
    "hubspot": ("pat-na1- w36", "pat-na2- w36", "pat-eu1- w36", "pat-ap1- w36"),
    "mailgun": ("key- h32-32", "pubkey- h32-32"),
    "sendgrid": ("SG. d60",),
    "brevo": ("xkeysib- w60", "xsmtpsib- w60"),
    "mailersend": ("mlsn. w40",),
    "resend": ("re_ w28",),
    "dropbox": ("sl. w60", "sl.u. w60"),
    "mapbox": ("pk.eyJ d60", "sk.eyJ d60", "tk.eyJ d60"),
    "adobe": ("p8e- h32-32", "p8e- w30"),
    "intercom": ("dG9rOn b40",),
    "segment": ("sgp_ a64-64",),
    "adafruit": ("aio_ a28-28",),
    "frame_io": ("fio-u- w40",),
    "intra42": ("s-s4t2ud- h64-64", "s-s4t2af- h64-64"),
    "twitch": ("oauth: a30-30",),
    "twilio": tuple(f"SK{digit} h31-31" for digit in "0123456789abcdef"),
    "jwt_in_base64": ("ZXlK b40",),
}

STEMS: Final = ("pass", "pw", "secret", "token", "key", "access", "auth", "cred", "bearer", "bundle_", "kennwort")
"""Lower-case pieces of the names that people give to secrets."""

ACCENTED_STEMS: Final = ("contrase", "senha")
"""The same in languages whose text is hardly ever plain ASCII."""

FOREIGN_STEMS: Final = (
    *(
        "パスワード",
        "暗証番号",
        "密码",
        "密碼",
        "口令",
        "令牌",
        "密钥",
        "密鑰",
        "トークン",
        "キー",
        "비밀번호",
        "암호",
        "토큰",
    ),
    *("парол", "токен", "ключ", "पासवर्ड", "टोकन", "รหัสผ่าน", "كلمة المرور", "كلمة السر", "סיסמה", "κωδικ"),
    *("ật khẩu", "şifre", "ösenord"),
)
"""The same in other scripts; each begins with a letter that is not ASCII, so that plain text is passed over."""

PASSWORD_ENDS: Final = (
    *("password", "passwords", "passwd", "passwort", "passphrase", "passphrases", "passcode", "pwd", "kennwort"),
    *("contrasena", "contrasea", "contrase", "senha", "passwordconfirmation"),
)
PASSWORD_WORDS: Final = frozenset({"pass", "pw", "psw", "passe"})
SECRET_ENDS: Final = ("secret", "secrets", "credential", "credentials", "creds", "secretkey", "secretkeybase")
TOKEN_ENDS: Final = (
    *("token", "apikey", "apikeys", "accesskey", "privatekey", "authkey", "accountkey", "sharedaccesskey"),
    *("authorization", "signingkey", "encryptionkey", "masterkey", "licensekey", "bearer", "appkey", "pat"),
)
KEY_QUALIFIERS: Final = _words(
    "access account admin api app application auth client consumer crypto customer deploy developer encryption env "
    "host ingest instrumentation integration jwt kek licence license login management master merchant oauth org "
    "organization private prod production project read root sas secret server service session shared signing ssh "
    "staging storage subscription user vault webhook write x"
)
"""Words that make a *key* a key to something: `storage_key`, not `sort_key`."""

WEAK_WORDS: Final = _words(
    "access accessid amz appid auth bearer clientid connectsid cookie credential dsn hmac jsessionid jwt keyid licence "
    "license mnemonic otp phpsessid sas session sessionid sid sig totp webhook"
)
"""Names behind which only what is clearly random is a secret."""

BENIGN_LAST: Final = _words(
    "age alg algo algorithm algorithms alias arg args arn at attempts board boards bucket budget bytes callback cert "
    "certificate char chars class classes cls code codes column columns combination comparator config context cost "
    "count counts created date days default delimiter desc description digest dir directory disabled document enabled "
    "endpoint env err error errors event exception exists expiration expired expires expiry feature field fields file "
    "filename files finder fingerprint flag flags flow form format frame func function generator group handler hash "
    "header headers help hint holder host hosts ids idx in index info input int interval invalid issuer item items "
    "json label len length level lifetime limit limits link list loader location lock lookup manager map mapping mask "
    "max message messages meta method min minutes mode msg name named names namespace nr num number numbers of offset "
    "on option options order owner page pages param parameter params parser path paths pattern permission permissions "
    "place placeholder policy pos position prefix press pressed price prompt prop property provider quota rate re ref "
    "reference regex region registry required reset resolver resource ring rotation rule rules schema scope scopes "
    "screen sec seconds secretsmanager selector separator serializer service set size sizes sort source start state "
    "stats status step storage store str strategy stream strength string strings style suffix table tag tags template "
    "test tests text time timeout timestamp title to tree ttl tuple type types uid unit up updated uri url urls usage "
    "user username valid validation validator validity value values vault vaulturl version view width word words "
    "writer"
)
"""Last words of names that speak about a secret and do not hold it: `secret_name`, `token_limit`."""

BENIGN_WORDS: Final = _words(
    "authenticity bos cache canonical column composite continuation continue csrf cursor dedup dedupe dict eos "
    "foreign hash hot i18n idempotency index locale mask metric natural next object pad page pagination partition "
    "primary pub public publishable query row socket sort sync translation unique unk xsrf"
)
"""Words that make the name harmless wherever they stand in it: `next_page_token`, `primary_key`."""

HOLDERS: Final = frozenset({"value", "values", "default", "string", "text", "str", "code", "base"})
"""Last words that are harmless alone and not behind the name of a secret: `token_value`."""

VENDORS: Final = _words(
    "adafruit adobe airtable algolia alibaba aliyun amplitude anthropic artifactory asana atlassian auth0 authress "
    "aws azure beamer bitbucket bittrex brevo circleci clickhouse clojars cloudflare cloudinary cloudsmith codecov "
    "cohere coinbase confluent contentful databricks datadog deepgram deepl deepseek digitalocean discord doppler "
    "droneci dropbox duffel dynatrace easypost elastic elevenlabs etsy facebook fastly figma finicity finnhub "
    "firebase flickr flutterwave flyio frameio freemius freshbooks gitlab gitter gocardless grafana groq harness "
    "hashicorp heroku hubspot huggingface infracost infura instagram intercom ipinfo jfrog jira jwt kaggle kraken "
    "kubernetes kucoin langchain langfuse langsmith launchdarkly linear linkedin lob looker mailchimp mailgun mapbox "
    "mapquest mattermost maxmind meraki messagebird mistral mixpanel mongodb netlify newrelic nytimes octopus okta "
    "openai openshift openweather opsgenie pagerduty paypal perplexity pinecone plaid planetscale postman prefect "
    "privateai pulumi pusher quandl quay rapidapi razorpay readme replicate rollbar rubygems scalingo segment "
    "sendbird sendgrid sendinblue sentry settlemint shippo shodan shopify sidekiq slack snowflake snyk sonar "
    "sonarcloud sonarqube sourcegraph splunk spotify square squarespace stripe sumo sumologic supabase tavily "
    "telegram telnyx terraform travis travisci trello twilio twitch twitter typeform unsplash vault vercel voyage "
    "wakatime wandb wistia wolfram yandex youtube zendesk zoom"
)
"""Providers: `dropbox = a0b1…` is a key though nothing calls it one."""

SCHEMES: Final = _words(
    "access-token api-key api-token apikey apitoken app-token basic bearer bot digest discogs genetoken genie genie- "
    "key hawk jwt key klaviyo-api-key negotiate ntlm oauth pve-apitoken snapshot splunk sso-key ssws token"
)
"""First words of an `Authorization` header."""

STOP_VALUES: Final = _words(
    "1password abc123 absent admin123 available basic blank boolean changed changeit changeme compromised confirmed "
    "correct credentials default defaultpassword deleted deprecated different disabled disallowed dummy empty enabled "
    "encrypted example expired exposed external false foobar forbidden forgotten generated hashed hidden hunter "
    "ignored incorrect invalid leaked local locked managed mandatory masked matched matches mismatch missing "
    "mypassword mysecret mytoken needed newpassword nonexistent nothing null oldpassword omitted optional owner "
    "passphrase passw0rd password password1 passwordless passwords placeholder plaintext prompted protected provided "
    "readonly redacted rejected removed required reserved rotated s3cret sample secret secrets securestring shared "
    "somepassword something sometimes standard stored string stripped stronger temporary testing testpass text token "
    "tokens true unchanged undefined unique unknown unlocked unset unspecified updated username value verified "
    "visible whatever xpassword yourpassword"
)
"""Values that say something about a secret, or stand for one."""

TECH_WORDS: Final = (
    *("sha1", "sha2", "sha3", "sha5", "md4", "md5", "base64", "base32", "utf8", "utf-8", "utf16", "oauth", "argon2"),
    *("bcrypt", "pbkdf2", "hs256", "rs256", "es256", "aes", "rsa", "ed25519", "x509", "rot13", "iso", "rfc", "http"),
    *("ipv4", "ipv6", "log4j", "k8s", "win32", "python3", "type1", "level", "version", "page", "line", "step", "arg"),
)
"""How a word with a digit may begin and yet be no password."""

DOCUMENTATION_KEYS: Final = frozenset(
    (
        "0b476bdf9acf2123d547b5ae",
        "2037abcaffb2b77785da716c",
        "27a9a42931dff7eb2f8434e2",
        "37f8f09bdf12c2f2eae4ead7",
        "3a8b61d0f636b007840c0d40",
        "3f370c9dd8225c63b5c77de1",
        "49f777db995e8260da7ca9ff",
        "4c98242dcadc8b29005c6b4a",
        "8731261cb72d86267a32a532",
        "a19f89ab3555eac10c40741f",
        "a6c814bc555ae62c7bd8b58e",
        "dc0fcf046c61640cbd1e8b99",
        "e4a5542bb7fd7b67e943c71a",
        "ea9bb1082cf95663f5faca23",
        "eb540d2b6ee2a0a47c5779bc",
    )
)
"""First 24 hexadecimal digits of the SHA-256 of keys that Google publishes in the sample configurations of its SDKs.

They are in so many notebooks and tutorials that marking them as leaks would only teach people to ignore the marker; the
list is the one that gitleaks (MIT licence) allows for the same reason. Digests, so that no key stands in this file.
"""

DIGEST_DIGITS: Final = 24
PUBLISHED_PREFIX: Final = "AIza"
