"""What is the smallest model that the reported command accepts?

A Qwen3-VL reranker of the real architecture and vocabulary with random weights: 10 M parameters, 20 MB, well under a
second an optimiser step on a CPU. It loads with transformers 4.57 and 5.x, and with ms-swift 4.0.0 and 4.6.0.

A script of its own, because it runs under the training environment's Python, where laststep is not installed:

    python build_model.py OUT

Needs torch, torchvision, transformers and dashscope (whose wheel carries the Qwen vocabulary).
"""

import argparse
import importlib.util
import json
import os
import shutil
from pathlib import Path

import torch
from transformers import AutoTokenizer, Qwen3VLConfig, Qwen3VLForConditionalGeneration
from transformers.convert_slow_tokenizer import TikTokenConverter

HIDDEN_SIZE = 64
FIRST_SPECIAL_ID = 151643
SPECIAL_TOKENS = (
    "<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> "
    "<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|> "
    "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|> "
    "<tool_response> </tool_response> <think> </think>"
).split()
CONTROL_TOKENS = 14  # the first so many are control tokens, the rest only look like them
WORD_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
KNOWN_IDS = {"<|im_end|>": 151645, "<|image_pad|>": 151655, "yes": 9693, "no": 2152}  # as in the released model
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build a tiny Qwen3-VL reranker with random weights.")
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    # Built beside and renamed, so that an interrupted build is never taken for a model.
    unfinished = out.with_name(f"{out.name}.{os.getpid()}")
    unfinished.mkdir(parents=True)
    build_tokenizer(unfinished)
    build_processor(unfinished)
    build_weights(unfinished)
    shutil.rmtree(out, ignore_errors=True)
    unfinished.rename(out)


def build_tokenizer(out: Path) -> None:
    """Convert the Qwen vocabulary, and check that the tokens the reranker scores by have their released numbers."""
    spec = importlib.util.find_spec("dashscope")
    if spec is None or spec.origin is None:
        raise SystemExit("The Qwen vocabulary comes with dashscope, which is not installed: pip install dashscope")
    converter = TikTokenConverter(
        vocab_file=str(Path(spec.origin).parent / "resources" / "qwen.tiktoken"),
        pattern=WORD_PATTERN,
        add_prefix_space=False,
        additional_special_tokens=SPECIAL_TOKENS,
    )
    converter.converted().save(str(out / "tokenizer.json"))
    _write_json(out / "tokenizer_config.json", _tokenizer_settings())
    tokenizer = AutoTokenizer.from_pretrained(str(out))
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in KNOWN_IDS}
    if ids != KNOWN_IDS:
        raise SystemExit(f"The vocabulary came out wrong: {ids} instead of {KNOWN_IDS}")


def build_weights(out: Path) -> None:
    """Write random weights, the same on every machine with the same torch."""
    rotary = {"mrope_interleaved": True, "mrope_section": [4, 2, 2], "rope_type": "default"}
    theta = 5_000_000
    text = {
        "vocab_size": 151936, "hidden_size": HIDDEN_SIZE, "intermediate_size": 2 * HIDDEN_SIZE, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 32768,
        "rope_parameters": {**rotary, "rope_theta": theta},
    }  # fmt: skip
    vision = {
        "depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": HIDDEN_SIZE,
        "deepstack_visual_indexes": [0], "num_position_embeddings": 2304,
    }  # fmt: skip
    torch.manual_seed(0)
    config = Qwen3VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=True)
    Qwen3VLForConditionalGeneration(config).to(torch.bfloat16).save_pretrained(out)
    # transformers 4.57 reads an older spelling of the rotary settings; give it both.
    saved = json.loads((out / "config.json").read_text())
    saved["text_config"] |= {"rope_scaling": rotary, "rope_theta": theta}
    _write_json(out / "config.json", saved)


def build_processor(out: Path) -> None:
    """Write the image and video settings, and the chat template."""
    patches = {
        "patch_size": 16, "temporal_patch_size": 2, "merge_size": 2, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
        "processor_class": "Qwen3VLProcessor",
    }  # fmt: skip
    image = {"size": {"longest_edge": 16777216, "shortest_edge": 65536}}
    video = {"size": {"longest_edge": 25165824, "shortest_edge": 4096}}
    _write_json(
        out / "preprocessor_config.json", {**image, "image_processor_type": "Qwen2VLImageProcessorFast", **patches}
    )
    _write_json(
        out / "video_preprocessor_config.json",
        {**video, "video_processor_type": "Qwen3VLVideoProcessor", **patches},
    )
    _write_json(out / "chat_template.json", {"chat_template": CHAT_TEMPLATE})


def _tokenizer_settings() -> dict[str, object]:
    tokens = {
        str(FIRST_SPECIAL_ID + index): {
            "content": token, "special": index < CONTROL_TOKENS, "lstrip": False, "rstrip": False,
            "normalized": False, "single_word": False,
        }
        for index, token in enumerate(SPECIAL_TOKENS)
    }  # fmt: skip
    return {
        "tokenizer_class": "Qwen2TokenizerFast", "added_tokens_decoder": tokens, "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>", "bos_token": None, "unk_token": None, "model_max_length": 262144,
        "clean_up_tokenization_spaces": False,
    }  # fmt: skip


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
