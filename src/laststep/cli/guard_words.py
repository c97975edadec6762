"""What does each guard and fix do, in a line for people?"""

from collections.abc import Mapping

from laststep.records.text import Text

GUARDS: Mapping[str, Text] = {
    "heartbeat": Text(
        en="writes step, phase and time of every rank to a memory-mapped file",
        zh="把每个 rank 的步数、阶段和时间写入内存映射文件",
    ),
    "loader": Text(
        en="rebuilds the data loader when a worker dies, batches unchanged",
        zh="数据加载进程死亡时重建加载器，批次不变",
    ),
    "memory-budget": Text(
        en="bounds the bytes that loader workers have in flight",
        zh="按字节限制加载进程在途的数据量",
    ),
    "loss": Text(
        en="notices a loss that reaches no trainable parameter and keeps the ranks together",
        zh="发现未连到可训练参数的损失，并让各 rank 保持同步",
    ),
    "save": Text(
        en="lets a save that fails not end the training, and tries it again; saves when asked to",
        zh="保存失败时不终止训练并重试；按要求保存检查点",
    ),
    "resume": Text(
        en="leaves at each save what an exact resume needs, and goes on from it",
        zh="每次保存时留下精确续训所需的状态，并据此继续",
    ),
}
FIXES: Mapping[str, Text] = {
    "swift-repeated-documents": Text(
        en="ms-swift: a listwise reranker batch encodes each document once (equivalent)",
        zh="ms-swift：listwise 重排批次中每个文档只编码一次（equivalent）",
    ),
    "swift-misaligned-documents": Text(
        en="ms-swift: a reranker row may mix documents with and without pictures (altering)",
        zh="ms-swift：同一行可以混用有图和无图的文档（altering）",
    ),
    "swift-summed-accumulation": Text(
        en="ms-swift: averages the reranker's loss over the accumulation (altering)",
        zh="ms-swift：重排损失在梯度累积上取平均（altering）",
    ),
    "torch-cpu-index": Text(
        en="torch: lets a training of several ranks on a CPU be resumed (identical)",
        zh="torch：使 CPU 上的多 rank 训练可以续训（identical）",
    ),
}
GUARDS_TITLE = Text(en="guards (--no-guard NAME)", zh="守护（--no-guard NAME）")
FIXES_TITLE = Text(en="fixes (--no-fix NAME)", zh="修复（--no-fix NAME）")
