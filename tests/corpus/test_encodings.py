from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.corpus.reading import corpus_file, losses_of, pieces_of, refusal, text_of
from wordpiece_studio.corpus import files
from wordpiece_studio.corpus.decoding import guessed_encoding
from wordpiece_studio.corpus.files import found_encoding
from wordpiece_studio.corpus.inspection import described

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
WITH_CORPORA = pytest.mark.skipif(not CORPORA.exists(), reason="the course in many languages is not here")

FRENCH = (
    "Les élèves ont déjà préparé leurs modèles ; après l'entraînement, la précision s'améliore. Où êtes-vous allés ?\n"
)
SPANISH = "¿Cómo se entrena un modelo? El año pasado aprendió español, según la última sección del capítulo.\n"
GERMAN = "Die Größe des Wortschatzes hängt davon ab, wie häufig Wörter für das Modell übrig bleiben.\n"
POLISH = "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw, każdy człowiek również.\n"
RUSSIAN = "Токенизатор разбивает текст на слова, а затем на части слов, которые есть в словаре модели.\n"
GREEK = "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.\n"
JAPANESE = "日本語の文章を単語に分割するのは簡単ではありません。トークナイザーを学習させましょう。\n"
KOREAN = "토크나이저는 문장을 단어로 나누고, 단어를 더 작은 조각으로 나눕니다. 모델을 훈련해 봅시다.\n"
CHINESE = "分词器把句子切分成词，再把词切分成更小的单元。我们来训练一个新的模型，看看结果如何。\n"
TAIWANESE = "分詞器把句子切分成詞，再把詞切分成更小的單元。我們來訓練一個新的模型，看看結果如何。\n"
REALISTIC = [
    (FRENCH, "cp1252"), (FRENCH, "latin-1"), (SPANISH, "cp1252"), (SPANISH, "latin-1"), (GERMAN, "cp1252"),
    (POLISH, "cp1250"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (GREEK, "cp1253"), (JAPANESE, "shift_jis"),
    (JAPANESE, "euc-jp"), (KOREAN, "euc-kr"), (KOREAN, "cp949"), (CHINESE, "gb18030"), (CHINESE, "gbk"),
    (TAIWANESE, "big5"), (f"{TAIWANESE}恒裏粧 €\n", "cp950"), (f"{TAIWANESE}佢哋嘅嘢喺邊度㗎\n", "big5hkscs"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "encoding"), REALISTIC)
def test_usual_encodings_are_found(tmp_path: Path, text: str, encoding: str) -> None:
    text = "Chapter 1\n" + text * 5
    file = corpus_file(tmp_path / "a.txt", text.encode(encoding), encoding="detect")
    assert text_of(file) == text
    assert described(file.path).how == "guess"


@WITH_CORPORA
@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        ("fr", "cp1252"), ("fr", "latin-1"), ("es", "cp1252"), ("es", "latin-1"), ("ru", "cp1251"), ("ru", "koi8-r"),
        ("ja", "shift_jis"), ("ja", "euc-jp"), ("ko", "euc-kr"), ("ko", "cp949"), ("zh-CN", "gb18030"),
        ("zh-TW", "big5"), ("th", "cp874"),
    ],
)  # fmt: skip
def test_encodings_are_found_anywhere_in_the_course(language: str, encoding: str) -> None:
    whole = (CORPORA / f"course-{language}.txt").read_text(encoding="utf-8")
    for part in range(8):
        for size in (3_000, 60_000):
            start = len(whole) * part // 8
            text = "".join(character for character in whole[start : start + size] if fits(character, encoding))
            guess = guessed_encoding(text.encode(encoding))
            assert guess is not None
            if not text.isascii():
                assert text.encode(encoding).decode(guess.name) == text.encode(encoding).decode(same_as(encoding))


def fits(character: str, encoding: str) -> bool:
    """Tell whether programs write a character in an encoding (euc-kr can spell rare ones, as none does)."""
    try:
        return len(character.encode(encoding)) <= 4
    except UnicodeEncodeError:
        return False


def same_as(encoding: str) -> str:
    """Return what an encoding is in practice: the one that Windows made of it."""
    return {"shift_jis": "cp932", "latin-1": "cp1252", "euc-kr": "cp949"}.get(encoding, encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, JAPANESE, KOREAN, CHINESE, "plain\n", "a 🙂\n"])
def test_unicode_is_detected_strictly(tmp_path: Path, encoding: str, text: str) -> None:
    text = text * 20
    path = tmp_path / "a.txt"
    for mark in ("", "\ufeff"):
        path.write_bytes((mark + text).encode(encoding))
        found = described(path)
        assert found.encoding == encoding
        assert found.how == ("byte order mark" if mark else "valid")
        assert text_of(corpus_file(path, encoding="detect")) == text


def test_a_mark_is_believed_and_nothing_else_without_being_asked(tmp_path: Path) -> None:
    assert text_of(corpus_file(tmp_path / "a.txt", "é\n".encode("utf-16"))) == "é\n"
    assert "NUL character at byte 1" in refusal(corpus_file(tmp_path / "b.txt", "é\n".encode("utf-16-le")[2:] * 2))
    assert "as in a binary file; it may be UTF-16-BE. " in refusal(
        corpus_file(tmp_path / "c.txt", FRENCH.encode("utf-16-be") * 2)
    )


@pytest.mark.parametrize(("text", "encoding"), [(FRENCH, "cp1252"), (RUSSIAN, "cp1251"), (JAPANESE, "cp932")])
def test_an_error_proposes_the_encoding(tmp_path: Path, text: str, encoding: str) -> None:
    file = corpus_file(tmp_path / "a.txt", b"one\n" + text.encode(encoding) * 3)
    assert "line 2: the bytes " in refusal(file)
    assert f" are not UTF-8; it may be {encoding.upper()}. " in refusal(file)
    packed = corpus_file(tmp_path / "b.txt", gzip.compress(b"one\n" + text.encode(encoding) * 3))
    assert f"it may be {encoding.upper()}. " in refusal(packed)


def test_of_mixed_encodings_the_place_is_named(tmp_path: Path) -> None:
    file = corpus_file(tmp_path / "a.txt", FRENCH.encode() * 30 + FRENCH.encode("cp1252") + FRENCH.encode() * 30)
    first = len(FRENCH.encode()) * 30 + FRENCH.index("é")
    for how in (None, "detect"):
        message = refusal(corpus_file(Path(file.path), encoding=how))
        assert f"line 31: the bytes E9 at byte {first} are not UTF-8; the text around them is" in message
    assert (described(file.path).encoding, described(file.path).how) == ("utf-8", "mixed")


def test_a_guess_from_little_text_is_not_reported(tmp_path: Path) -> None:
    assert " are not UTF-8. Set" in refusal(corpus_file(tmp_path / "a.txt", b"caf\xe9\n"))


def test_binary_data_has_no_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for data in (bytes(range(256)) * 20, b"\x7fELF\x02\x01\x01" + bytes(200), bytes(1000)):
        path.write_bytes(data)
        assert described(path).encoding is None
        refusal(corpus_file(path, encoding="detect"))


def test_far_into_a_large_file_is_looked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_HEAD_BYTES", 4 << 10)
    monkeypatch.setattr(files, "_PART_BYTES", 4 << 10)
    path = tmp_path / "a.txt"
    path.write_bytes(b"plain words only\n" * 2000 + RUSSIAN.encode("cp1251") * 100)
    assert found_encoding(path) == "cp1251"


def test_a_known_mistake_is_replaced_or_skipped_in_any_encoding(tmp_path: Path) -> None:
    data = JAPANESE.encode("cp932") + b"\x81\xff\n" + JAPANESE.encode("cp932")
    assert losses_of(corpus_file(tmp_path / "a.txt", data, encoding="cp932", errors="skip-line"))[2] == 1
    text, replaced, skipped = losses_of(corpus_file(tmp_path / "a.txt", data, encoding="cp932", errors="replace"))
    assert (text.count("\ufffd"), replaced, skipped) == (replaced, replaced, 0)


def test_pieces_name_the_encoding_used(tmp_path: Path) -> None:
    file = corpus_file(tmp_path / "a.jsonl", ('{"text": "' + RUSSIAN.strip() + '"}\n').encode("cp1251") * 3)
    pieces = pieces_of(corpus_file(Path(file.path), encoding="detect"))
    assert {piece.encoding for piece in pieces} == {"cp1251"}
    assert "".join(piece.text for piece in pieces) == RUSSIAN * 3
    row = pieces[0].locate(len(RUSSIAN) * 2)
    assert row == (3, 2 * len(('{"text": "' + RUSSIAN.strip() + '"}\n').encode("cp1251")))
