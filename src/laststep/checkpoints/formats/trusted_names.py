"""Which names may a checkpoint's pickle speak of?

Taken from what real checkpoints of ms-swift, transformers, accelerate, PEFT, DeepSpeed and torch hold. Functions are
named one by one; classes may also be trusted by the module that defines settings. Whatever is not here is a finding.
"""

import re
import sys
from typing import Any

from laststep.checkpoints.formats.pickle_values import Global

_FUNCTIONS = frozenset(
    """
    torch._utils._rebuild_tensor torch._utils._rebuild_tensor_v2 torch._utils._rebuild_tensor_v3
    torch._utils._rebuild_parameter torch._utils._rebuild_parameter_with_state torch._utils._rebuild_qtensor
    torch._utils._rebuild_sparse_tensor torch._utils._rebuild_nested_tensor
    torch._utils._rebuild_meta_tensor_no_storage torch._utils._rebuild_device_tensor_from_numpy
    torch._utils._rebuild_device_tensor_from_cpu_tensor
    torch._utils._rebuild_wrapper_subclass torch._tensor._rebuild_from_type_v2 torch.storage._load_from_bytes
    torch.serialization._get_layout
    numpy._core.multiarray._reconstruct numpy.core.multiarray._reconstruct numpy._core.multiarray.scalar
    numpy.core.multiarray.scalar numpy._core.numeric._frombuffer numpy.core.numeric._frombuffer
    numpy.random._pickle.__randomstate_ctor numpy.random._pickle.__generator_ctor
    numpy.random._pickle.__bit_generator_ctor
    _codecs.encode copyreg._reconstructor copyreg.__newobj__ copyreg.__newobj_ex__
    """.split()
)
_CLASSES = frozenset(
    """
    deepspeed.utils.tensor_fragment.fragment_address
    collections.OrderedDict collections.defaultdict collections.Counter collections.deque
    builtins.set builtins.frozenset builtins.list builtins.dict builtins.tuple builtins.int builtins.float
    builtins.bool builtins.str builtins.bytes builtins.bytearray builtins.complex builtins.slice builtins.range
    builtins.object types.NoneType types.SimpleNamespace
    datetime.datetime datetime.date datetime.time datetime.timedelta datetime.timezone decimal.Decimal
    fractions.Fraction uuid.UUID pathlib.Path pathlib.PosixPath pathlib.WindowsPath pathlib.PurePath
    pathlib.PurePosixPath pathlib.PureWindowsPath pathlib._local.Path pathlib._local.PosixPath
    pathlib._local.WindowsPath argparse.Namespace
    numpy.ndarray numpy.dtype
    torch.Size torch.device torch.dtype torch.Tensor torch.Generator torch.nn.parameter.Parameter
    torch.nn.parameter.Buffer torch.storage.UntypedStorage torch.storage.TypedStorage torch.strided torch.sparse_coo
    torch.memory_format torch.contiguous_format torch.preserve_format torch.channels_last
    torch.per_tensor_affine torch.per_channel_affine
    """.split()
)
_TORCH_STORAGE = re.compile(r"torch(?:\.cuda)?\.[A-Z]\w*Storage")
_TORCH_DTYPE = re.compile(
    r"torch\.(?:u?int\d+|q?u?int\d+(?:x\d)?|bfloat16|float\d+(?:_\w+)?|complex\d+|bool|half|long)"
)
_NUMPY_TYPE = re.compile(r"numpy(?:\.dtypes\.\w+DType|\.(?:bool_?|u?int\d+|float\d+|complex\d+|str_|bytes_))")
# Modules that hold settings and states; of them classes alone are trusted, and no function.
_SETTINGS = re.compile(
    r"""(?:
    transformers\.(?:trainer_utils|trainer_pt_utils|trainer_callback|training_args\w*|debug_utils|configuration_utils
        |integrations\.deepspeed|generation\.configuration_utils|utils\.(?:generic|quantization_config)
        |models\.\w+\.configuration_\w+|trainer_optimizer|distributed\.\w+)
    |accelerate\.(?:state|parallelism_config|utils\.(?:dataclasses|megatron_lm))
    |peft\.(?:config|utils\.\w+|tuners\.(?:\w+\.)*config)
    |trl\.trainer\.\w*(?:config|args|arguments)\w*|trl\.\w+\.\w*config\w*
    |swift(?:\.\w+)*\.\w*(?:arguments?|args|config|constants?|base_args)(?:\.\w+)*
    |llamafactory\.hparams\.\w+|axolotl\.core\.training_args\w*(?:\.\w+)*
    |deepspeed\.(?:runtime\.(?:fp16\.loss_scaler|zero\.\w*config\w*|config\w*|constants)
        |utils\.tensor_fragment|checkpoint\.\w+)
    |torch\.distributed\.(?:checkpoint\.(?:metadata|planner|filesystem|_extension|stateful)|device_mesh
        |tensor(?:\.\w+)*|_tensor(?:\.\w+)*|_shard(?:\.\w+)*|fsdp\.(?:api|fully_sharded_data_parallel|sharded_grad_scaler))
    |torch\.(?:optim\.swa_utils|amp\.grad_scaler|layout|_C)
    |torchao(?:\.\w+)*|bitsandbytes\.functional
    )""",
    re.VERBOSE,
)
_CLASS_NAME = re.compile(r"_?[A-Z][A-Za-z0-9_]*(?:\.[A-Z][A-Za-z0-9_]*)*")
# Their classes are trusted by module or not at all.
_WITH_SETTINGS = frozenset(
    ("transformers", "accelerate", "peft", "trl", "swift", "llamafactory", "axolotl", "deepspeed")
)
_FRAMEWORKS = frozenset(("torch", "numpy", "transformers", "accelerate", "deepspeed", "peft", "pip", "setuptools"))
_OLD_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}


def name_global(module: str, name: str) -> Global:
    """Take a name as Python 3 understands it."""
    return Global(_OLD_MODULES.get(module, module), name)


def is_trusted_class(name: Global) -> bool:
    """Tell whether a name is a class or constant that checkpoints hold."""
    full = str(name)
    if full in _CLASSES or any(kind.fullmatch(full) for kind in (_TORCH_STORAGE, _TORCH_DTYPE, _NUMPY_TYPE)):
        return True
    return bool(_SETTINGS.fullmatch(name.module) and _CLASS_NAME.fullmatch(name.name))


def may_be_called(name: Global, arguments: Any) -> bool:
    """Tell whether loading may call it with these arguments.

    A class of settings is made without a call; only members of an enumeration are, with their one plain value. Called
    with more, the arguments of ms-swift would run plug-ins that they name.
    """
    if not is_trusted(name) and name.module != "__main__":
        return False
    is_settings = name.module == "__main__" or name.module.partition(".")[0] in _WITH_SETTINGS
    if not is_settings or str(name) in _CLASSES:
        return True
    return len(arguments) <= 1 and all(isinstance(value, str | int | float) for value in arguments)


def is_trusted(name: Global) -> bool:
    """Tell whether loading may call it."""
    return str(name) in _FUNCTIONS or is_trusted_class(name)


def is_own_class(name: Global) -> bool:
    """Tell whether a name can be an argument class of the user's own: of their script, or of a package of theirs."""
    package = name.module.partition(".")[0]
    is_foreign = package in sys.stdlib_module_names or package in _FRAMEWORKS
    return bool(_CLASS_NAME.fullmatch(name.name)) and (package == "__main__" or not is_foreign)
