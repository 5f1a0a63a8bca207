"""What a PyTorch module answered, as tensors in order. Torch is handed in, never imported: who has none may load this too."""


def flatten(torch, answer):
    """Tensors in order; of a mapping, by its own order. What is no tensor is left out."""
    if isinstance(answer, torch.Tensor):
        return [answer]
    if isinstance(answer, dict):
        answer = list(answer.values())
    return [tensor for part in answer for tensor in flatten(torch, part)] if isinstance(answer, (tuple, list)) else []
