"""The invented languages of the benchmark corpus: syllables, endings and punctuation of real scripts, no real words.

Everything is listed from frequent to rare. What is made of it is `corpus`'s affair.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

_SYLLABLES = 800  # a language's inventory
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Language:
    """What words are made of, and how they are set.

    Attributes
    ----------
    share
        Its part of the lines, in arbitrary units.
    stems, names
        Syllables of ordinary stems, and of function words and names.
    prefixes, endings
        What stems may carry; the empty one is among them.
    longest_stem
        In syllables.
    setting
        A key of `SEPARATORS`.
    """

    share: float
    stems: tuple[str, ...]
    names: tuple[str, ...]
    prefixes: tuple[str, ...]
    endings: tuple[str, ...]
    longest_stem: int = 3
    setting: str = "spaced"


SEPARATORS = {
    # what ends a line, what ends a sentence, what parts two words: each from frequent to rare
    "spaced": (
        (".", ".", ".", "!", "?", ":", "…", ""),
        (". ", ". ", ". ", "? ", "! ", "… "),
        (" ", ", ", "; ", "-", " – ", ": ", ' "', '" ', " (", ") ", "/", "’", " 🙂 ", " ❤️ ", " 👍🏽 ", " & ", " @"),
    ),
    "devanagari": (("।", "।", "?", "!"), ("। ", "। ", "? ", "! "), (" ", ", ", " – ", " (", ") ", "; ", " 🙏 ")),
    "arabic": ((".", ".", "؟", "!"), (". ", "؟ ", "! "), (" ", "، ", "؛ ", ": ", " «", "» ", " (", ") ", " 🌙 ")),
    "cjk": (
        ("。", "。", "！", "？"),
        ("。", "。", "？", "！"),
        ("", "，", "、", "“", "”", "（", "）", "：", " ", "🎉"),
    ),
    "thai": ((" ", ""), (" ", " "), (" ", "", " (", ") ", " ๆ ", " 😊 ")),
}


def _spelled(onsets: str, nuclei: str, codas: str) -> tuple[str, ...]:
    """Return syllables, frequent ones first; ``_`` is nothing, a hyphen in a nucleus is where the onset goes."""
    parts = [[part.replace("_", "") for part in listed.split()] for listed in (onsets, nuclei, codas)]
    weighed = []
    for number, ranks in enumerate(product(*(range(len(part)) for part in parts))):
        onset, nucleus, coda = (part[rank] for part, rank in zip(parts, ranks, strict=True))
        text = (nucleus.replace("-", onset) if "-" in nucleus else onset + nucleus) + coda
        # A language does not use all combinations of its sounds as often as their parts would let one expect.
        liking = 0.1 + number * _GOLDEN % 1
        weighed.append(((ranks[0] + 2) * (ranks[1] + 2) * (ranks[2] + 2) * liking, text))
    return tuple(dict.fromkeys(text for _, text in sorted(weighed) if text))[:_SYLLABLES]


def _hangul() -> tuple[str, ...]:
    leads, vowels, tails = (
        "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ",
        "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ",
        "_ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂ",
    )
    frequent = product("ㅇㄱㅅㄴㅈㄷㅎㄹㅁㅂㅊㅌㅍㅋㄲㄸ", "ㅏㅣㅗㅓㅡㅜㅕㅔㅐㅛㅘㅠ", "_ㄴㄹㅁㄱㅂ")
    return tuple(
        chr(0xAC00 + (leads.index(lead) * len(vowels) + vowels.index(vowel)) * 28 + tails.index(tail))
        for lead, vowel, tail in sorted(frequent, key=lambda parts: ord(parts[0]) * 7919 * ord(parts[1]) % 1009)
    )[:_SYLLABLES]


def _han(count: int, step: int) -> tuple[str, ...]:
    """Return `count` characters; another `step` gives them in another order of frequency."""
    return tuple(chr(0x4E00 + number * step % 9001) for number in range(1, count + 1))


def _language(share: float, stems: tuple[str, ...], endings: str, prefixes: str = "", **others: object) -> Language:
    names = others.pop("names", stems)
    return Language(share, stems, names, ("", *prefixes.split()), ("", *endings.split()), **others)  # type: ignore[arg-type]


_CYRILLIC = "н т в с к п р д л м з б г _ ст пр ч х ш ж ф тр кр св ц щ"
_HIRAGANA = tuple("のにはをたがでてとしれさいあるなかもこすらくまりよけうどつみおねわきせちえめや")
_KATAKANA = tuple("ンースルトラリアイクシドレジタフロカテマコメサパブニプムバデキオグナミェハダソ")

LANGUAGES = (
    _language(  # English
        26,
        _spelled(
            "_ s t r c m d l p n b f h w g v th st pr ch sh k tr br gr sp cl fl j wh y qu str bl",
            "e a i o u ea ou y io ee ai oo ie ei au oa",
            "_ _ n r s t l d m nd nt st c ng ck rt ss p th ll g rd x mp",
        ),
        "s ed ing er ly ion e al y es ers able ment ness ive ous ity ful less ism ist 's ized ation ality ingly",
        "un re in de dis over non pre mis inter anti",
    ),
    _language(  # French
        8,
        _spelled(
            "_ r s t l d c p m v n f b qu g ch j pr tr cr br pl fr h gn",
            "e a i o u é ai ou oi è eu au ê â œu î ô ï",
            "_ _ r n s l t c m ns nt x",
        ),
        "e s es er é ée és ment tion ent ant ait eur eux aire ique té ions aient ère èrent ç œuvre",
        "re dé in l' d' qu' sur pré n'",
    ),
    _language(  # Spanish and Portuguese
        9,
        _spelled(
            "_ c d t r s l m p n b v g f h ll j ñ qu pr tr gr br cr x ch lh nh ç z",
            "a o e i u ie ia ue ã á é í ó ú ão õ ê â ô ü",
            "_ _ _ n s r l d m z",
        ),
        "s a o as os ar er ir ción ciones ado ada ando endo mente aba aron ería idad ísimo ção ções",
        "des re in sub contra",
    ),
    _language(  # German and Swedish
        8,
        _spelled(
            "_ s b g d h w r l m n k f t sch st p v z tr br fr kr gr pf sp schl j qu",
            "e a i o u ei ie au ä ü ö eu å äu",
            "_ n r l t s ch nd ng cht st m rt ck ß tz ll mm pf",
        ),
        "en e er es n t te ten ung ungen keit lich ig heit isch chen los bar schaft ern ar na erna",
        "ge ver be un auf aus ein über ent zer vor för",
    ),
    _language(  # Polish and Czech
        6,
        _spelled(
            "p n w s z k r d m t l b c g j ł cz sz rz prz ch ż ś ć ź ř š č ž h st w",
            "o a e i y u ie ia ó ą ę á é í ý ě ů",
            "_ _ _ n l w k r m s ł c ń",
        ),
        "a y i e ie em u ów ach ami ego emu ych ym ość nie cie ł ła li ský ého ou ách",
        "nie po za wy prze na do roz ne",
    ),
    _language(  # Turkish
        4,
        _spelled("k b y d s t m g h _ ç ş v p z c r l n f", "a e i ı u ü o ö â", "_ _ n r l k m ş t z y ğ p"),
        "lar ler da de ı i u ın in dan den mak mek dı di yor lı li sız ca ki ımız iniz larından lerinde",
        longest_stem=4,
    ),
    _language(  # Russian and Ukrainian
        13,
        _spelled(_CYRILLIC, "о а е и у я ы ё ю э і ї є", "_ _ _ н р л т с к в м й ль сть х ть"),
        "а о и ы е у ть ого ой ет ом ая ый ие ать ов ей ами ция ность ться лся ла ли ные их ими ування ість ґ",
        "по на пре вы за не раз об под про с недо",
    ),
    _language(  # Greek
        5,
        _spelled(
            "τ κ π σ ν μ λ ρ δ γ θ φ χ β _ ξ στ πρ τρ ζ ψ κρ μπ ντ",
            "α ο ε ι η ου ω υ αι ει ά ί έ ό ή ύ ώ οι αυ ευ ϊ ΐ",
            "_ _ _ ν σ ρ λ κ",
        ),
        "ς ν α ο ι ος η ου ων ες ει εις ουν ικός ική μα ματα τος ηκε ότητα ίζω",
        "κατα ανα προ επι συν παρα αντι υπερ",
    ),
    _language(  # Arabic and Persian
        6,
        _spelled(
            "م ل ن ر ب ع س ت ي د ق ف ك ح ج ش ص خ ط أ ه ذ ض ز غ ث ظ إ پ گ چ", "_ ا ي و َ ُ ِ", "_ _ ر ن ل م د ب س ع ق ت"
        ),
        "ة ي ه ها ات ون ين هم نا تا وا ان ية کم ند های",
        "ال و ب ل وال لل ف س بال می",
        setting="arabic",
    ),
    _language(  # Hebrew
        3,
        _spelled("ל מ ה ש ב ר נ ת כ א ד ח ע ק פ ס ט ג צ ז", "_ ו י ַ ָ ּ", "_ _ ר ל ת ם ן ד ב ק"),
        "ים ות ה י ת ית נו ך כם הם יים יות",
        "ה ו ב ל מ ש כ וה שה מה",
    ),
    _language(  # Hindi
        5,
        _spelled(
            "क र स न म त प ह ल व ब द ज ग य श अ च ट भ थ ध प्र इ ख उ आ फ ड स्त ष त्र क्ष ज़ छ ठ ढ घ",
            "_ ा ि े ी ो ु ं ू ै ौ ृ ँ",
            "_ _ र न त ल क ्य स ट",
        ),
        "ों ने ता ती ते ना नी ने या ये ें ाएँ वाला वाली कर ीय त्व पूर्ण करण",
        "अ प्र वि सं उप अनु",
        setting="devanagari",
    ),
    _language(  # Thai
        2,
        _spelled(
            "ก น ม ส ท ร ค ว ต ป ย ห ล บ พ อ ช ด จ ข ผ ถ ง ซ ฟ ปร กร คร",
            "า -ะ เ- แ- ี ั ิ โ- ไ- ื ู เ-ี ุ -อ เ-า ่า ้า ำ ึ ใ-",
            "_ _ น ง ก ม ย บ ด ร ว",
        ),
        "ๆ แล้ว กัน ได้",
        "การ ความ นัก ผู้",
        setting="thai",
    ),
    _language(  # Korean
        6,
        _hangul(),
        "이 은 을 에 의 는 가 를 로 도 에서 하고 으로 했다 하는 한다 된 적 "
        "들 들이 들은 까지 부터 입니다 습니다 었다 지만 면서",
        "대 신 재 비",
    ),
    _language(5, _han(3500, 7129), "的 了 在 是 们 性 者 化", setting="cjk", longest_stem=2),  # Chinese
    _language(  # Japanese
        5,
        _han(2200, 5227),
        "の を は に が で と も する した して な から です ます ました という れる られた ている ない について",
        "お ご",
        setting="cjk",
        longest_stem=2,
        names=(*_KATAKANA, *_HIRAGANA),
    ),
)
