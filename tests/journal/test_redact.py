"""Secrets never reach the disk, and everything else does."""

import json
import shlex
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laststep.journal.redact import REDACTED, redact_argv, redact_environment, redact_text
from laststep.journal.secret_names import is_secret_name

ALPHANUMERIC = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def of(alphabet, length):
    return st.text(alphabet, min_size=length, max_size=length)


SHAPED = st.one_of(
    of(ALPHANUMERIC, 34).map("hf_{}".format),
    of(ALPHANUMERIC, 36).map("ghp_{}".format),
    of(ALPHANUMERIC, 40).map("github_pat_{}".format),
    of(string.ascii_uppercase + string.digits, 16).map("AKIA{}".format),
    of(ALPHANUMERIC, 47).map("sk-1{}".format),
    of(ALPHANUMERIC, 47).map("sk-proj-1{}".format),
    of(ALPHANUMERIC, 20).map("LTAI{}".format),
    of(ALPHANUMERIC + "-_", 35).map("AIza{}".format),
    st.uuids().map("ms-{}".format),
    of(ALPHANUMERIC, 24).map("xoxb-{}".format),
    st.tuples(of(ALPHANUMERIC, 20), of(ALPHANUMERIC, 30), of(ALPHANUMERIC, 43)).map(
        lambda t: f"eyJ{t[0]}.{t[1]}.{t[2]}"
    ),
    of(ALPHANUMERIC + "+/", 300).map("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----".format),
    of(ALPHANUMERIC + "+/", 300).map("-----BEGIN PRIVATE KEY-----\n{}".format),
)
# Anything a person may choose; at least one letter, since short numbers behind a token count something.
CHOSEN = st.text(string.printable.strip(), min_size=8, max_size=40).filter(
    lambda text: any(map(str.isalpha, text)) and "redact" not in text
)
SECRET_NAMES = st.sampled_from(
    "HF_TOKEN WANDB_API_KEY AWS_SECRET_ACCESS_KEY MODELSCOPE_API_TOKEN DB_PASSWORD MY_SECRET hub_token api_key "
    "password openai.api-key SWANLAB_API_KEY GITHUB_TOKEN client_secret OSS_ACCESS_KEY_ID PGPASSWORD".split()
)
SURROUNDINGS = st.sampled_from(
    ["{}", "x {} y", '"{}"', "'{}'", "loading {}\nnext line", "({})", "a={}", "https://h/p?x={}&y=1"]
)

ORDINARY = """
swift sft --model Qwen/Qwen3-VL-Reranker-8B --max_new_tokens 512 --eos_token <|im_end|> --pad_token <|end|>
IMAGE_MAX_TOKEN_NUM=768 MAX_POSITIVE_SAMPLES=10 MASTER_PORT=29500 CUDA_VISIBLE_DEVICES=0,1,2,3 NPROC_PER_NODE=4 swift
--key_metric accuracy --metric_key eval_loss --label_key labels --tokenizer_name gpt2 --tokenizer=my/tokenizer
--max_length 4096 --learning_rate 5e-5 --dataset AI-ModelScope/alpaca-gpt4-data-zh#500 --use_auth_token true
--token_count 12 --num_tokens_per_batch 4096 --image_token 151655 --special_tokens a,b --add_special_tokens false
torchrun --nproc_per_node 4 --rdzv_endpoint host:29400 train.py --data s3://bucket/key/file.json
checkpoint-3700 sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 adapter_model.safetensors
commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12 of the tokenizer
{'loss': 9.47974472, 'grad_norm': 43.4076004, 'tokens': 1234, 'epoch': 0.6, 'memory(GiB)': 76.77}
{"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "key": "value", "max_tokens": 512, "token_ids": [1, 2, 3]}
RuntimeError: DataLoader worker (pid 511) is killed by signal: Killed.
KeyError: 'input_ids' in missing keys: ['lm_head.weight'], unexpected key(s) in state_dict: "a.b"
Total tokens: 12345, tokens/s: 99.5, token: 12
https://pytorch.org/docs/stable/elastic/errors.html git@github.com:owner/name.git ssh://git@host/x
the sk-learn-compatible-estimator-interface of scikit-learn, task-specific-head-for-sequence-classification-2
PRIMARY_KEY=id SORT_KEY=length --foreign_key name
""".strip().splitlines()


class TestASecretNeverSurvives:
    @given(SHAPED, SURROUNDINGS)
    def test_when_its_shape_gives_it_away(self, secret, around):
        assert secret not in redact_text(around.format(secret))
        assert not any(secret in word for word in redact_argv(["run", around.format(secret)]))

    @given(SECRET_NAMES, CHOSEN)
    def test_in_an_environment(self, name, secret):
        assert redact_environment({name: secret}) == {name: REDACTED}

    @given(SECRET_NAMES, CHOSEN.filter(lambda text: not text.startswith("--")))
    def test_behind_a_flag(self, name, secret):
        assert redact_argv(["swift", f"--{name}", secret, "--x"]) == ("swift", f"--{name}", REDACTED, "--x")
        assert redact_argv(["swift", f"--{name}={secret}"]) == ("swift", f"--{name}={REDACTED}")
        assert redact_argv(["env", f"{name}={secret}"]) == ("env", f"{name}={REDACTED}")

    @given(SECRET_NAMES, CHOSEN)
    def test_in_a_script(self, name, secret):
        for line in (f"export {name}={shlex.quote(secret)} B=1", f"swift --{name} {shlex.quote(secret)} --x"):
            if not secret.startswith("-"):
                assert secret not in redact_text(line)
                assert shlex.quote(secret) not in redact_text(line)

    @given(SECRET_NAMES, CHOSEN)
    def test_in_json_which_stays_json(self, name, secret):
        shown = redact_text(json.dumps({"a": [1, {name: secret, "model": "x"}]}))
        assert json.loads(shown) == {"a": [1, {name: REDACTED, "model": "x"}]}

    @given(SECRET_NAMES, of(ALPHANUMERIC, 12).filter(lambda text: not text.isdigit()))
    def test_in_json_inside_json(self, name, secret):
        shown = redact_text(json.dumps(json.dumps({name: secret, "model": "x"})))
        assert secret not in shown
        assert json.loads(json.loads(shown))["model"] == "x"

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("https://me:p@ss@host/x", "https://[redacted]@host/x"),
            ("https://0123456789abcdef0123@host/x", "https://[redacted]@host/x"),
            ("http://h/p?token=abc&model=x", "http://h/p?token=[redacted]&model=x"),
            ("http://h/p?X-Amz-Signature=abc&x=1", "http://h/p?X-Amz-Signature=[redacted]&x=1"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
            ('-H "Authorization: Basic dXNlcjpw"', '-H "Authorization: Basic [redacted]"'),
            ("wandb login " + "0123456789" * 4, "wandb login [redacted]"),
            ("machine api.wandb.ai login user password s3cret", "machine api.wandb.ai login user password [redacted]"),
            ("curl -u me:s3cret http://h", "curl -u [redacted] http://h"),
            ("Args(hub_token='abc', model='x')", "Args(hub_token='[redacted]', model='x')"),
            ("password=1234", "password=[redacted]"),
        ],
    )
    def test_in_the_other_places_people_put_it(self, text, shown):
        assert redact_text(text) == shown

    def test_in_the_words_of_a_login(self):
        key = "0123456789" * 4
        assert redact_argv(["wandb", "login", "--relogin", key]) == ("wandb", "login", "--relogin", REDACTED)


class TestInnocentThingsStay:
    @pytest.mark.parametrize("line", ORDINARY)
    def test_in_a_text(self, line):
        assert redact_text(line) == line

    @pytest.mark.parametrize(
        "line", [line for line in ORDINARY if line.startswith(("swift", "--", "torchrun", "IMAGE"))]
    )
    def test_in_a_command(self, line):
        assert redact_argv(line.split()) == tuple(line.split())

    def test_in_an_environment(self):
        environment = {
            "IMAGE_MAX_TOKEN_NUM": "768",
            "MASTER_PORT": "29500",
            "PATH": "/usr/bin",
            "TOKENIZERS_PARALLELISM": "false",
        }
        assert redact_environment(environment) == environment

    @given(st.text())
    def test_redacting_twice_changes_nothing_more(self, text):
        once = redact_text(text)
        assert redact_text(once) == once

    @pytest.mark.parametrize(
        "name", ["", "=", "max_new_tokens", "eosToken", "IMAGE_TOKEN", "keyword", "monkey", "MONKEY"]
    )
    def test_a_name_that_promises_none(self, name):
        assert not is_secret_name(name)

    @pytest.mark.parametrize("name", ["hfToken", "OPENAI_API_KEY_2", "ACME_KEY", "my-secret", "apikey", "dbPassword"])
    def test_a_name_that_does(self, name):
        assert is_secret_name(name)


def test_a_line_of_ten_megabytes_is_no_trap():
    """Nested repeats would take hours here; the time limit of the tests is the assertion."""
    assert redact_text("a" * 10_000_000 + " --api_key abc").endswith(REDACTED)
