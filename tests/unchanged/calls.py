"""The calls whose output is compared: a block shares a folder of its own, filled by `commands.make_files`.

``{evil}`` stands for a word that a terminal would obey; ``< NAME`` gives a file as the input.
"""

CALLS = r"""
# figures, tables and kinds of files
count texts
count texts --top 2
count texts --top 2 --json
count texts -o counts.tsv
count texts -o counts.csv
count texts -o counts.parquet
count counts.tsv --word-counts --json
count counts.csv --word-counts --json
count counts.parquet --word-counts --json
train texts --max-merges 3 -o 1
train counts.tsv --word-counts --max-merges 3 -o 2
train counts.csv --kind word-counts --max-merges 3 -o 3
train counts.parquet --word-counts --max-merges 3 -o 4
train texts counts.tsv --max-merges 3 -o 5
count texts --json
count texts/*.txt texts/c.csv.gz --column text --json
count texts/c.csv.gz --column id --json
count texts/c.csv.gz --column 1 --json
count texts/b.jsonl --kind text --pre-tokenizer whitespace-split --json
count texts/d.data --kind jsonl --column body --json
count texts --min-count 2 --json
count texts --min-count 4
count notes.md
count *.md
count course-en.txt --processes 1 --json --top 5
count course-en.txt --processes 2 --json --top 5
count - < course-en.txt
count - --json < utf16.txt
count invented.txt --top 20
count scripts.txt --top 50
count scripts.txt --top 50 --normalizer bert-uncased
count scripts.txt --top 50 --normalizer nfkd+strip-accents --pre-tokenizer whitespace
count scripts.txt --top 50 --normalizer none --pre-tokenizer byte-level
count scripts.txt --top 50 --remove é中
count same.txt long.txt --top 3
count long.txt --max-word-length 2000 --json

# what cannot be counted
count no.txt
count *.x
count empty.txt
count blank.txt
count latin.txt
count latin.txt --encoding detect
count latin.txt --encoding cp1252
count latin.txt --encoding klingon
count half.txt
count half.txt --errors replace
count half.txt --errors skip-line --json
count half.txt --errors ignore
count nul.txt
count utf16.txt
count broken.csv
count broken.csv --errors skip-line
count broken.jsonl
count broken.jsonl --errors skip-line --json
count broken.jsonl --errors replace
count broken.jsonl --json
count other.jsonl
count other.jsonl --column body
count two.tsv --json
count two.tsv --json --word-counts
count two.tsv --json --kind tsv
count rows.csv
count rows.csv --column x
count texts/a.txt --column x
count texts/c.csv.gz --word-counts --column x
count latin.csv --column text
count latin.csv --column text --encoding latin-1 --top 9
count words.tsv
count words.tsv --word-counts --user-tokens tokens.txt
count bad.tsv --word-counts
count bad.tsv --word-counts --json
count twice.tsv --word-counts
count truncated.txt.gz
count wrong.txt.xz
count texts --kind xml
count texts --kind csv --word-counts
count texts -
count texts -o texts/a.txt
count texts -o texts/a.txt/x.tsv
count one.txt -o no/x.tsv
count one.txt -o texts
count one.txt -o x.tsv.gz
count one.txt -o x.xyz
count texts --cluster nonsense
count - --cluster tcp://localhost:8786
count same.txt --pre-tokenizer "pattern:(a"
count same.txt --pre-tokenizer "pattern:a{1,999999999}"
count same.txt --pre-tokenizer "pattern:\\"
count same.txt --pre-tokenizer "pattern:[a"
count same.txt --pre-tokenizer "pattern:(?<=a*)b"
count same.txt --pre-tokenizer "split:nowhere:a"
count same.txt --normalizer remove:
count same.txt --normalizer nfc+nfx
count same.txt --top x
count same.txt --top=-1
count same.txt --top
count same.txt --min-count 0
count same.txt --no-such-option
count same.txt --no-such-option --json
count same.txt --json=1

# user tokens
count scripts.txt course-en.txt --normalizer lowercase --user-tokens tokens.txt -o counts.tsv
train course-en.txt --user-tokens tokens.txt --max-merges 20 --with-counts -o 1
train counts.tsv --word-counts --normalizer lowercase --user-tokens tokens.txt --max-merges 20 -o 2
verify counts.tsv
verify 1 course-en.txt
verify 1
train course-en.txt --user-tokens bad-tokens.txt -o 3
train course-en.txt --user-tokens none.txt -o 3
count course-en.txt --user-tokens tokens.txt
tokenize --vocab 1 "the Hugging Face course in C++"
explain --vocab 1 Hugging

# the course's vocabulary in all ways
train course-en.txt --objective score --vocab-size 70 -o course
tokenize --vocab course "This is the Hugging Face course!"
tokenize --vocab course --ids "is a"
tokenize --vocab course --json "Hugging is"
tokenize --vocab course/vocab.txt HOgging
tokenize --vocab course/tokenizer.json HOgging --json
tokenize --vocab course < lines.txt
tokenize --vocab course - --ids < lines.txt
tokenize --vocab course --normalizer lowercase "This is."
tokenize --vocab course --remove . "This is."
tokenize --vocab course --pre-tokenizer whitespace-split "This is."
tokenize --vocab course --normalizer nonsense a
tokenize --vocab course a b
tokenize --vocab course {evil}
tokenize --vocab course --json {evil}
explain --vocab course isH
explain --vocab course --json is.
explain --vocab course {evil}
explain --vocab course " "
explain --vocab course " " --json
explain --vocab course Hugging
explain --vocab course iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii
decode --vocab course 2 48 65 3
decode --vocab course "[2, 48]" --keep-special-tokens
decode --vocab course 65 --json
decode --vocab course < ids.txt
decode --vocab course - < ids.txt
decode --vocab course x
decode --vocab course 70
decode --vocab course - 1
decode --vocab course 1 --offsets x
decode --vocab course course-en.txt
decode --vocab course no.npy
encode lines.txt --vocab course -o ids.npy --offsets ends.npy --add-special-tokens
decode --vocab course ids.npy
decode --vocab course ids.npy --offsets ends.npy
decode --vocab course ends.npy
verify ids.npy
verify ids.npy lines.txt
verify ids.npy lines.txt --json
encode lines.txt --vocab course -o small.npy --dtype uint16 --normalizer lowercase --json
encode lines.txt --vocab course -o int8.npy --dtype int8
encode lines.txt --vocab course -o ids.npy
encode lines.txt --vocab course -o ids.npy --force
encode texts --vocab course -o texts.npy --json
encode texts/c.csv.gz --vocab course -o column.npy --column 1
encode latin.txt --vocab course -o latin.npy
encode latin.txt --encoding latin-1 --vocab course -o latin.npy
encode half.txt --vocab course -o half.npy --errors skip-line
encode no.txt --vocab course -o x.npy
encode no.txt --vocab course -o x.npy --json
encode course-en.txt --vocab course -o course/vocab.txt
encode course-en.txt --vocab course -o texts
encode - --vocab course -o piped.npy < lines.txt
encode lines.txt -o b.npy --top 1
encode course-en.txt
lint course-en.txt
verify course
verify course course-en.txt
verify course course-en.txt --json
verify course hug.txt
verify course nothing.txt
train course-en.txt --objective score --vocab-size 71 -o course
train course-en.txt --objective score --vocab-size 71 --only vocab.txt -o course
train course-en.txt --objective score --vocab-size 71 --only vocab.txt -o course --force
train course-en.txt -o course/vocab.txt

# files of others are not replaced
train course-en.txt --max-merges 2 -o out
train course-en.txt --max-merges 3 -o out
train course-en.txt --max-merges 4 --only vocab.txt -o out
train course-en.txt --max-merges 4 --only x -o out
train course-en.txt -o out --bpe --objective count --continuing-subword-prefix=
train course-en.txt -o out --bpe --objective count --continuing-subword-prefix= --force
train course-en.txt -o texts/new --max-merges 2 --history notes.md
train course-en.txt -o texts/new --max-merges 2 --history rows.csv
train course-en.txt -o texts/new --max-merges 2 --history rows.csv --force
count course-en.txt -o rows.csv
count course-en.txt -o words.tsv --force
encode course-en.txt --vocab out -o one.txt

# objectives, ties, rules of stopping
train course-en.txt --objective score --vocab-size 60 --history score.csv -o score
train course-en.txt --objective count --vocab-size 60 --history count.csv -o count
train course-en.txt --objective likelihood --vocab-size 60 --history likelihood.jsonl -o likelihood --json
train course-en.txt --vocab-size 60 --history merges.parquet -o parquet
train course-en.txt --objective score --tie ids --vocab-size 60 --history ids.jsonl -o ids
compare score count --on course-en.txt --top 2
compare score count --on course-en.txt --top 1 --json
compare score count --json
compare score count
compare score.csv count.csv --json
compare score.csv count.csv
compare score.csv score.csv
compare score.csv count
compare score.csv count.csv --on course-en.txt
compare score none
compare score
compare likelihood.jsonl count.csv
compare piece.json score --on lines.txt
evaluate score count --on course-en.txt
evaluate score count --on course-en.txt --on hug.txt --each
evaluate score count --on course-en.txt --on hug.txt --parallel
evaluate score count --on course-en.txt --on hug.txt --parallel --json
evaluate score piece.json --on course-en.txt --json
evaluate score --on none.txt
evaluate score --on empty.txt
evaluate score --on course-en.txt --parallel
evaluate score score --on course-en.txt
evaluate none --on course-en.txt
evaluate score
evaluate score --on - < lines.txt
verify score.csv course-en.txt
verify likelihood.jsonl course-en.txt --json
train course-en.txt --vocab-size 45 -o a
train course-en.txt --vocab-size 46 -o b
train course-en.txt --min-frequency 100000 -o c
train course-en.txt --min-frequency 2 --max-merges 3 -o d
train course-en.txt --min-value 7000 -o e
train course-en.txt --max-seconds 0 -o f
train course-en.txt --max-token-length 3 -o g
train course-en.txt -o h
train course-en.txt --max-merges 0 -o i --json
train course-en.txt --held-out --vocab-size 60 -o j
train invented.txt --vocab-size 200 -o k --json
train invented.txt --vocab-size 200 --held-out --held-out-model judged -o l --json
train invented.txt --vocab-size 200 --held-out --min-frequency 3 --objective score -o m
train invented.txt --vocab-size 200 --held-out-file course-en.txt -o n
evaluate judged --on invented.txt --held-out --json
evaluate judged --on words.tsv --held-out
train one.txt --held-out -o p
train course-en.txt --held-out --held-out-file course-en.txt -o p
train course-en.txt --held-out-model m -o p
train course-en.txt --held-out --held-out-model p -o p
train course-en.txt --held-out --bpe -o p
train course-en.txt --held-out-file none.txt -o p
train course-en.txt --held-out-file - -o p
train - --held-out -o p < course-en.txt

# alphabet, prefix, special tokens
train same.txt --vocab-size 0 -o v
train same.txt --vocab-size -1 -o v
train same.txt --vocab-size 10 -o v
train same.txt --vocab-size 27 -o 27
train same.txt --vocab-size 500000000 -o v
train same.txt --vocab-size 18446744073709551616 -o v
train same.txt --vocab-size x -o v
train same.txt --vocab-size 100000000 --max-merges 1000000000000000000 -o large
train same.txt --special-tokens "[UNK] [CLS] [UNK]" -o v
train same.txt --special-tokens "[UNK] T" -o T
train same.txt --special-tokens "[UNK] ##s" -o s
train same.txt --special-tokens "[UNK] ##gg" -o gg
train same.txt --special-tokens "[UNK] This" -o This
train same.txt --special-tokens "" -o no-special
train same.txt --special-tokens "<unk> <s> </s> <pad>" --mask-token "<m>" --bos-token "" --model-max-length 99 -o roles
train same.txt --special-tokens "<unk> <s> </s> <pad>" --pad-token none -o roles2
train same.txt --special-tokens "[MASK]" -o mask
train same.txt --continuing-subword-prefix "" -o no-prefix
train same.txt --continuing-subword-prefix Hu -o Hu
train same.txt --continuing-subword-prefix @@ --tie ids -o at
train same.txt --alphabet-limit 0 -o v
train same.txt --alphabet-limit 1 -o v
train scripts.txt --alphabet-limit 30 -o limit
train scripts.txt --alphabet-limit 30 --alphabet-overflow remove -o removed
train same.txt --alphabet huggingface -o hf
train same.txt --alphabet huggingface --continuing-order "s i h" --initial-alphabet "q w" -o ordered
train same.txt --alphabet else -o v
train same.txt --objective bpe -o v
train same.txt --tie last -o v
train same.txt --max-token-length 0 -o v
train same.txt --max-word-length 0 -o v
train same.txt --normalizer bert -o v
train same.txt --pre-tokenizer spaces -o v
train same.txt --model-max-length 0 -o v
train same.txt --max-seconds 1s -o v
train latin.txt -o v
train latin.txt --errors replace -o replaced
train latin.csv --column text --encoding latin-1 --min-count 2 --max-word-length 5 -o latin
verify latin --json
train words.tsv --word-counts -o words
verify words words.tsv --word-counts
verify words
train - -o stdin < course-en.txt
train - -o empty-stdin < empty.txt
train - -o half-stdin < half.txt
train no.txt -o v
train empty.txt -o v
train texts/a.txt/b.txt -o v
train "" -o v
train -o v
train same.txt
train --json
train same.txt -o --json
train same.txt -o same.txt
train same.txt -o same.txt --json
train same.txt --history merges.xyz -o v
train same.txt --max-merges 2 --processes 2 -o two
train same.txt long.txt --max-merges 2 -o skipped

# byte pair encoding, and what one file cannot express
train course-en.txt --objective count --continuing-subword-prefix "" --max-merges 9 --bpe --with-counts -o bpe
verify bpe course-en.txt
verify bpe
tokenize "This course." --vocab bpe --json
evaluate bpe --on course-en.txt
train course-en.txt --objective count --continuing-subword-prefix "" --end-of-word-suffix "</w>" --max-merges 9 --bpe -o w
train course-en.txt --objective count --continuing-subword-prefix "" --end-of-word-suffix "</w>" --end-of-word attached --max-merges 9 --bpe -o w2
train course-en.txt --objective count --bpe -o v
train course-en.txt --bpe -o v
train course-en.txt --objective count --continuing-subword-prefix "" --bpe --only vocab.txt -o v
train course-en.txt --objective count --continuing-subword-prefix "" --pre-tokenizer punctuation --normalizer none --bpe -o v
train course-en.txt --max-merges 9 --with-counts --history merges.jsonl -o history
verify merges.jsonl history/word-counts.tsv
verify history
count course-en.txt -o counts.csv
verify counts.csv course-en.txt
verify counts.csv empty.txt
verify none
verify texts
verify none --json
train course-en.txt --pre-tokenizer punctuation --normalizer none --max-merges 2 -o v
train course-en.txt --pre-tokenizer punctuation --normalizer none --max-merges 2 -o v --only tokenizer.json
train course-en.txt --pre-tokenizer punctuation --max-merges 2 -o v2
train course-en.txt --pre-tokenizer unicode-punctuation --normalizer none --max-merges 2 -o v3
train course-en.txt --pre-tokenizer unicode-punctuation --normalizer none --max-merges 2 -o v3 --only vocab.txt
train course-en.txt --pre-tokenizer "split:removed,invert:\b\w+" --max-merges 2 -o v4
train course-en.txt --pre-tokenizer "pattern:[a-z]+" --normalizer nfc --max-merges 2 -o v5
train course-en.txt --pre-tokenizer "pattern:[a-z]+" --normalizer nfc --max-merges 2 -o v5 --only vocab.txt
train scripts.txt --normalizer language-friendly --pre-tokenizer bert+byte-level:no-prefix --max-merges 20 -o v6
train korean.txt --normalizer nfkd --max-merges 20 -o v7

# vocabularies of others
tokenize --vocab vocab.txt "ab z"
tokenize --vocab vocab.txt "ab z" --ids
tokenize --vocab twice-vocab.txt ab
tokenize --vocab blank-vocab.txt ab
tokenize --vocab tab-vocab.txt ab
tokenize --vocab empty.txt ab
tokenize --vocab utf16.txt ab
tokenize --vocab nul.txt ab
tokenize --vocab half.txt ab
tokenize --vocab piece.json "ab z"
tokenize --vocab cut.json ab
tokenize --vocab unknown.json ab
tokenize --vocab list.json ab
tokenize --vocab version.json ab
tokenize --vocab holes.json ab
tokenize --vocab same-id.json ab
tokenize --vocab no ab
tokenize --vocab no ab --json
tokenize --vocab no -- --json
tokenize --vocab texts ab
evaluate piece.json vocab.txt --on lines.txt
compare piece.json vocab.txt --on lines.txt
encode lines.txt --vocab vocab.txt -o ids.npy --offsets ends.npy
decode ids.npy --vocab vocab.txt
decode ids.npy --offsets ends.npy --vocab vocab.txt --keep-special-tokens

# the linter
lint lint.txt
lint lint.txt --json
lint lint.txt --normalizer bert-uncased
lint lint.txt --normalizer bert-uncased --user-tokens tokens.txt
lint scripts.txt
lint scripts.txt --normalizer none --pre-tokenizer whitespace-split
lint korean.txt
lint rows.csv
lint rows.csv --column text
lint no.txt
lint empty.txt
lint - < lint.txt
lint texts

# nothing that a terminal obeys
train evil.txt --normalizer none --pre-tokenizer whitespace-split -o out
tokenize --vocab out {evil}
explain --vocab out {evil} --json
count evil.txt --normalizer none --pre-tokenizer whitespace-split --top 5
count {evil}
train {evil} -o new
train one.txt -o {evil}/{evil}
count one.txt --encoding {evil}
count one.txt --normalizer {evil}
count one.txt --kind {evil}
count one.txt --pre-tokenizer "pattern:({evil}"
count one.txt -o {evil}.xyz
count rows.csv --column {evil}
train one.txt --special-tokens {evil} -o new
train one.txt --continuing-subword-prefix {evil} -o new
train one.txt --objective {evil}
--{evil}
train --{evil}

# wrong calls
trian
no.txt
course-en.txt no.txt
--nonsense
explain
decode
prepare now
train
encode
verify
lint
evaluate
prepare --nonsense

# other libraries
train course-en.txt --by tokenizers-bpe --vocab-size 90 -o bpe --json
tokenize --vocab bpe "the course"
train course-en.txt --by tokenizers-bpe --vocab-size 90 --replay --bpe -o replayed
train course-en.txt --by sentencepiece-unigram --vocab-size 50 -o unigram
train course-en.txt --by bpe -o v
train course-en.txt --twice -o v
train course-en.txt --replay -o v
train course-en.txt --by tokenizers-bpe -o v
train course-en.txt --by tokenizers-bpe --vocab-size 90 --max-merges 3 -o v
train course-en.txt --by tokenizers-bpe --vocab-size 90 --history a.csv -o v
train course-en.txt --by sentencepiece-bpe --vocab-size 90 --min-count 2 -o v
train course-en.txt --by sentencepiece-bpe --vocab-size 90 --replay -o v
train - --by sentencepiece-bpe --vocab-size 90 -o v < course-en.txt
evaluate bpe unigram --on course-en.txt
compare bpe unigram --on course-en.txt
"""  # noqa: E501 (a call is one line)

AS_PROCESSES = r"""
--version
--help
train --help
trian
train course-en.txt --vocab-size 60 -o out
train - --vocab-size 40 -o piped < hug.txt
train no.txt -o v
count - < nul.txt
count course-en.txt --top 3 --json
tokenize --vocab out < lines.txt
tokenize --vocab out --ids < lines.txt
decode --vocab out < ids.txt
verify out course-en.txt
lint lint.txt
count same.txt runaway.txt --pre-tokenizer "pattern:(a|aa)+$" -o w.tsv
"""
