"""Does a name promise a secret?

`HF_TOKEN`, `--api_key` and `db.password` do; `eos_token`, `max_new_tokens`, `metric_key` and `tokenizer` do not. In
doubt about a name in capitals (an environment variable) the answer is yes.
"""

import re

ALWAYS = frozenset("password passwd passphrase pwd secret secrets credential credentials apikey".split())
RUN_TOGETHER = ("password", "passwd", "passphrase", "secret", "apikey", "authtoken", "accesskeyid")
# Words that make an innocent thing of a token: a vocabulary's, or a number of them.
TOKEN_OF_TEXT = frozenset(
    "eos bos pad unk sep cls mask image video audio special stop start end boi eoi think added prompt response max min "
    "num new per first last next input output text generated extra skip n total vision placeholder fim decoder".split()
)
# Words that make a secret of a key whatever the case; in capitals any key is one but those below.
KEY_OF_A_LOCK = frozenset(
    "api access secret private auth account ssh encryption signing wandb openai hub hf huggingface modelscope swanlab "
    "aws azure dashscope anthropic service shared client session".split()
)
KEY_OF_A_TABLE = frozenset(
    "primary foreign sort metric label text column image cache dict public query map row".split()
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
HINT = r"(?:token|key|secret|passw|passphrase|pwd|credential)"  # every secret name has one of these in it


def is_secret_name(name: str) -> bool:
    """Tell whether what follows this name must not be shown."""
    words: list[str] = [word.lower() for word in _WORD.findall(name)]
    if not words:
        return False
    last, others = words[-1], set(words[:-1])
    # `DB_PASSWORD_FILE` names a file, `OPENAI_API_KEY_2` a second key.
    if last.isdigit() and others:
        return is_secret_name(name.rstrip("0123456789").rstrip("_-."))
    # Also run together, as in PGPASSWORD and `hubapikey`.
    if last in ALWAYS or "".join(words).endswith(RUN_TOGETHER):
        return True
    if last == "token":
        return not TOKEN_OF_TEXT & others
    if last in ("key", "keys"):
        in_capitals = name.isupper() and last == "key" and len(words) > 1 and not KEY_OF_A_TABLE & others
        return in_capitals or not KEY_OF_A_LOCK.isdisjoint(others)
    return last == "authorization"
