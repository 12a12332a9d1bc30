"""What secrets look like in error text, as data: where each kind begins, and the pattern that tells it from others.

A shape has anchors, lower-case literals of which one occurs in every secret of that kind, and a pattern that is
tried only where an anchor was found; its one matching group is the secret. Three rules keep the cost linear on
hostile text: a pattern consumes what it recognises, gives up within a bounded distance otherwise, and never
starts twice in one run.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

MARKER = "[redacted]"


class Pattern:
    """A regular expression that is compiled when it is first tried: all of them together take a fifth of a second."""

    def __init__(self, text: str, flags: re.RegexFlag) -> None:
        self._text = text
        self._flags = flags

    @cached_property
    def match(self) -> Callable[[str, int], re.Match[str] | None]:
        """As `re.Pattern.match`, from a position on."""
        return re.compile(self._text, self._flags).match


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret. The pattern is tried `lead` characters before the anchor, or right behind it.

    Where there is a `value`, the pattern only leads up to it, and the secret is what `value` finds there.
    """

    anchors: tuple[str, ...]
    pattern: Pattern
    value: Pattern | None = None
    lead: int = 0
    behind: bool = False


def _pattern(text: str) -> Pattern:
    return Pattern(text, re.IGNORECASE | re.ASCII)


def _at(anchors: str, pattern: str, lead: int = 0) -> Shape:
    """The pattern includes the anchor, and `lead` characters before it. Anchors are separated by `|`."""
    return Shape(tuple(anchors.split("|")), _pattern(pattern), lead=lead)


def _behind(anchors: str, pattern: str, value: Pattern | None = None) -> Shape:
    """The pattern begins where the anchor ends."""
    return Shape(tuple(anchors.split("|")), _pattern(pattern), value, behind=True)


# Public prefixes of issued keys, by the fewest characters that follow one.
_PREFIXES = {
    10: "xoxa- xoxb- xoxp- xoxr- xoxs- xoxe- xoxe.xoxp- xapp-",
    12: "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_",
    16: "sk- pk-lf- whsec_ glpat- gldt- glrt- glcbt- glptt- glsoat- ya29. GOCSPX- sq0atp- sq0csp- sq0idp- sb_secret_"
    " LTAI",
    20: "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ 1//0 pypi- hf_ EAAC EAAG EAAB lin_api_ hvs. hvb. NRAK- dckr_pat_ tvly-"
    " glsa_ glc_ pscale_tkn_ pscale_pw_ PMAK- sntrys_ sntryu_ shippo_live_ figd_ fo1_ fm2_ sbp_ pplx- r8_ nfp_ aio_"
    " CCIPAT_ HRKU- tfp_ CFPAT- lsv2_pt_ lsv2_sk_ pcsk_ access-production- access-sandbox- shpat_ shpca_ shppa_ shpss_"
    " ATBB patp_",
    30: "AIza npm_ SG. key- dop_v1_ doo_v1_ dor_v1_ dapi ntn_ dp.pt. dp.st. xkeysib- ATATT3 ATCTT3 gsk_ xai- rubygems_"
    " dt0c01. ops_eyJ AGE-SECRET-KEY-1 fc- EZAK",
    40: "secret_ EAAA CLOJARS_",
}


def _issued(prefix: str, fewest: int) -> Shape:
    """A key known by its prefix: long enough, with a digit early on, as prose and package names have none."""
    pattern = (
        rf"(?<![A-Za-z0-9])({re.escape(prefix)}(?=[\w.+/-]{{{fewest}}})(?=[A-Za-z_.+/-]{{0,40}}+[0-9])"
        r"[\w-]*+(?:\.[\w-]++)*+(?:[+/=][\w+/=-]*+)?)"
    )
    return Shape((prefix.lower(),), Pattern(pattern, re.ASCII))


# What stands where a value is awaited and is none: words of a message, references to a value kept elsewhere.
_NO_VALUE = (
    r"(?!(?:(?:the|this|your|an?|that)[ ]\w{1,20}[ ])?"
    r"(?:is|are|was|were|be|been|has|have|had|must|should|can|cannot|could|may|might|will|would|does|do|did|not|no"
    r"|never|expired?|expires|invalid|missing|required|wrong|incorrect|mismatch|malformed|revoked|unknown|denied"
    r"|rejected|failed|failure|error|forbidden|unauthorized|unsupported|disabled|absent|empty|blank|null|nil|none"
    r"|undefined|true|false|ok|valid|too|at|for|from|in|of|on|or|and|to|with|by|if|please|check|provided?|use|field"
    r"|value|header|param|parameter|query|string|cookies?|authorization|bearer|basic|digest|negotiate|ntlm|changed"
    r"|reset|redacted|hidden|optional|length|minimum|maximum|only|contains?|see|access|refresh|type|object|number"
    r"|text|exceeded|already|unable|couldn't|can't|doesn't|isn't|wasn't|hasn't|didn't)"
    r"(?![\w@$!#%^*+=/-]|[.:][\w])"
    r"|\$\{|\{\{|\$\(|\$[A-Z_]+\b|%s\b|%\(|<|\*{3}|\.{3}|…|process\.env|os\.environ)"
)
_QUOTE = r"(?:\\{0,3}[\"'`]|%22|%27|&quot;)"
_SEPARATOR = rf"(?:{_QUOTE}?\]?[ \t]{{0,8}}(?:=>|:=|={{1,3}}|:(?!:|//)|%3D|%3A)[ \t]{{0,8}}|\"\r?\n\r?\n)"
_BARE = r"[^\s&;,\"'<>`\\]"
_WORD = rf"(?={_BARE}*?[\w\x80-\U0010ffff])(?:[^\s&;,\"'<>`\\.]|\.(?!\s|\Z))++"
"""What an assignment gives without quotes: something with a letter or digit, without the full stop of a sentence."""


_ASCII_WORD = r"(?:(?![&;,\"'<>`\\])[!-~])++"


def _value(condition: str = "", bare: str = _WORD) -> Pattern:
    """A quoted text up to its closing quote or the end of the line, or a bare one, for which `condition` holds."""
    return _pattern(
        rf"{_QUOTE}?+{_NO_VALUE}{condition}(?:"
        r"(?<=\\[\"'])((?:[^\"'\\\r\n]|\\+[^\"'\\\r\n]|\\{3,}+[\"'])++)"
        r"|(?<=\")((?:[^\"\\\r\n]|\\.)++)"
        r"|(?<=')((?:[^'\\\r\n]|\\.)++)"
        r"|(?<=`)([^`\r\n]++)"
        r"|(?:(?<=%22)|(?<=%27))((?:[^\s%&\"']|%(?!22|27))++)"
        r"|(?<=&quot;)([^&\s]++)"
        rf"|({bare}))"
    )


_ANY = _value()
_LONG = _value(rf"(?=[\w+/=%~]{{16}})(?={_BARE}{{0,60}}?[0-9])")

_KEY_KINDS = (
    *(
        "api",
        "app",
        "application",
        "access",
        "account",
        "admin",
        "auth",
        "client",
        "consumer",
        "deploy",
        "encryption",
    ),
    *(
        "functions",
        "license",
        "master",
        "private",
        "root",
        "service",
        "session",
        "shared",
        "signing",
        "storage",
    ),
    "subscription",
)
_SCHEME = (
    r"(?:Bearer|Basic|Token|Negotiate|NTLM|ApiKey|Api-Key|Key|Bot|Splunk|SSWS|GenieKey|Zoho-oauthtoken|SharedKey"
    r"|Client-ID)[ \t]+"
)
_SIGNED_SCHEME = r"(?:Digest|Hawk|OAuth|AWS4-HMAC-SHA256|Signature|SharedAccessSignature)[ \t]"

_BY_SHAPE = (
    *(_issued(prefix, fewest) for fewest, prefixes in _PREFIXES.items() for prefix in prefixes.split()),
    # JSON web tokens and their kin: base64 of `{"`, then parts joined by dots.
    _at("eyj", r"(?:(?<![\w-])|(?<=%3D)|(?<=%20)|(?<=%22))((?-i:eyJ)[\w-]{8,}+(?:\.[\w-]*+){1,4}+)"),
    # AWS access key ids, with the secret key that stands right behind one.
    _at(
        "akia|asia|abia|acca",
        r"(?<![A-Za-z0-9])((?-i:A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16})(?![A-Za-z0-9])"
        r"(?:[\s:,;|\"'/]{1,4}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?)",
    ),
    _at(":aa", r"(?<=[0-9]{8}):((?-i:AA)[\w-]{30,}+)"),  # Telegram
    _at("q~", r"(?<![\w.~-])((?-i:[\w.~-]{3}[0-9]Q~)(?:[\w~-]|\.(?=[\w~-])){30,}+)", lead=4),  # Azure
    _at("-us", r"(?<![\w-])([0-9a-f]{32}-us[0-9]{1,2})(?!\w)", lead=32),  # Mailchimp
    _at("$2a$|$2b$|$2y$", r"(\$2[aby]\$[0-9]{2}\$[A-Za-z0-9./]{20,}+)"),  # bcrypt
    _at("$argon2|$5$|$6$|$pbkdf2", r"((?:\$argon2|\$[56]\$|\$pbkdf2)[A-Za-z0-9$./=,+-]{20,}+)"),
    _at("begin ", r"(?<=-----)BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----([\s\S]+?)(?=-----END|\Z)"),
)

# Whatever a header, an assignment, a form, a document or a query gives to a name that stands for a secret.
_BY_NAME = (
    _behind(
        "authorization",
        rf"{_SEPARATOR}{_QUOTE}?(?:({_SIGNED_SCHEME}[^\r\n]++)"
        rf"|(?:{_SCHEME})?{_NO_VALUE}({_WORD}))",
    ),
    _at(
        "bearer",
        r"(?<![A-Za-z])bearer(?:[ \t]{1,8}|%20|\+)(?=[\w.~+/-]{0,60}?[0-9]|[\w.~+/-]{30})([\w.~+/-]{6,}+=*+)(?!\")",
    ),
    # Base64 as schemes have it: mixed case or padded, as no word is.
    _at(
        "basic |negotiate |ntlm ",
        r"(?<![A-Za-z])(?:basic|negotiate|ntlm) {1,4}"
        r"(?-i:(?=[A-Za-z0-9+/]{0,60}?[a-z0-9][A-Z]))([A-Za-z0-9+/]{8,}+=*+)(?!\")",
    ),
    _behind("cookie", rf"{_SEPARATOR}{_QUOTE}?(?=[^\s=;,\"']{{1,128}}=)([^\r\n]++)"),
    _behind(
        "password|passwd|passphrase|passcode",
        rf"(?:[_-]?(?:hash|digest|confirm(?:ation)?|value|text|[12]))?{_SEPARATOR}",
        _ANY,
    ),
    # As Chinese texts name them. Only ASCII is taken for a value: what is none goes on as prose.
    _behind(
        "密码|口令|密钥|令牌",
        rf"(?:{_SEPARATOR}|[ \t]{{0,8}}：[ \t]{{0,8}})",
        _value(r"(?=[!-~]{4})", _ASCII_WORD),
    ),
    _behind("password '|password \"|identified by '|identified by \"", r"([^'\"\r\n]{1,200}+)(?=['\"])"),
    _behind("pwd|pass", rf"(?<![a-z]pwd)(?<![a-z]pass)(?!:[ \t]*[0-9]{{1,5}}\b){_SEPARATOR}", _ANY),
    _behind(
        "secret",
        r"(?<!:secret)(?:[_-]?(?:access[_-]?)?(?:key(?:[_-]?base)?|value|string|text|token|id))?"
        + _SEPARATOR,
        _ANY,
    ),
    _behind(
        "token", rf"(?<!unexpected token)(?<!near token)(?:[_-]?(?:secret|value|key))?{_SEPARATOR}", _ANY
    ),
    _behind(
        "|".join(f"{kind}{joint}key" for kind in _KEY_KINDS for joint in ("", "_", "-", " ")),
        rf"(?:[_-]?(?:id|value|secret))?(?: provided)?{_SEPARATOR}",
        _ANY,
    ),
    _behind(
        "credential|credentials|sessionid|session_id|session-id|sessid|connect.sid|_session|signature|signature-256"
        '|_auth|"auth"|hmac|assertion|samlresponse|code_verifier|device_code',
        rf"(?<![a-z]signature){_SEPARATOR}(?:sha(?:1|256|512)=)?",
        _LONG,
    ),
    _behind(
        "?code=|&code=|?key=|&key=|?sig=|&sig=|?auth=|&auth=|?sid=|&sid=|;sid=",
        rf"((?={_BARE}{{8}})(?={_BARE}{{0,60}}?[0-9]){_WORD})",
    ),
    _behind(
        "otp|cvv|cvc|cvv2|cvc2|pin",
        rf"(?<![a-z]otp)(?<![a-z]pin)(?<![a-z]cv[vc]){_SEPARATOR}{_QUOTE}?([0-9]{{3,8}})(?!\w|\.[0-9])",
    ),
    _behind(
        "verification code|security code|one-time code|one-time password|one time code|one time password|login code"
        "|authentication code|2fa code|mfa code|verification_code|mfa_code|2fa_code|otp_code",
        rf"(?:{_SEPARATOR}{_QUOTE}?|[ ](?:is|was)[ ]|[ ])([0-9]{{3,4}}[ -]?[0-9]{{1,4}})(?!\w|\.[0-9])",
    ),
)

# Command lines, markup and addresses.
_BY_PLACE = (
    _at(
        "--",
        r"(?<![\w-])--[a-z-]{0,24}?(?:password|passphrase|token|secret|api-?key)[ ]{1,4}(?![-<$*{])[\"']?([^\s\"']++)",
    ),
    _at("-u |--user ", r"(?<=[ ])-{1,2}u(?:ser)?[ ]{1,4}[\"']?[^\s:\"'@/]{1,128}:(?!//)([^\s\"']++)"),
    _behind("sshpass -p", r"[ ]?[\"']?([^\s\"']++)"),
    _behind(" login ", r"[^\s]{1,128}\s{1,8}password\s{1,8}([^\s]++)"),
    _behind("password>|secret>|token>|apikey>|api_key>", rf"{_NO_VALUE}([^<\s][^<\r\n]{{0,200}}+)(?=</)"),
    _behind("thin:", r"[^\s/@:]{1,64}/([^\s@/]++)@"),
    # user:password@host, where the password may hold an `@` or, against the standard, a slash.
    _behind(
        "://",
        r"[^\s/?#\"'<>:@\[]{0,128}:(?![0-9]{0,5}(?:[/?#\s\"'<>]|\Z))"
        r"((?:[^\s\"'<>/?#@]++|[^\s\"'<>@:=&]++)(?:@[^\s\"'<>/?#@]*+(?=@))*+)@",
    ),
    _behind("://", r"((?=[\w-]{0,40}?[0-9])[\w-]{20,}+)@"),
    _behind(
        "hooks.slack.com/services/|hooks.slack.com/workflows/|/api/webhooks/|webhook.office.com/webhookb2/",
        r"([\w/@.-]{16,}+)",
    ),
)

SHAPES = (*_BY_SHAPE, *_BY_NAME, *_BY_PLACE)

# Digits of the length and beginning that card numbers have, in one piece or in their usual groups.
CARD_NUMBER = re.compile(
    r"(?<![\w.+-])(?:4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2[2-7][0-9]{14}|3[47][0-9]{13}|3[068][0-9]{12}"
    r"|35[0-9]{14}|6[0-9]{15,18}|[2-6][0-9]{3}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{3})?"
    r"|3[47][0-9]{2}([ -])[0-9]{6}\2[0-9]{5})(?![\w-])(?!\.[0-9])",
    re.ASCII,
)
