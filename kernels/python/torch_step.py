"""torch.step: does training work?

A convolution, a linear layer and SGD for five steps beside a twin in float64 on the CPU: gradients of the first step, the
losses of all of them. Then one step in mixed precision: bfloat16 on the CPU, float16 with a gradient scaler on a GPU.
"""
import copy
import sys

import torch_compare
from suite_record import run, seed_of

STEPS = 5
BATCH, CHANNELS, SIDE, OUTPUTS = 16, 3, 17, 7
RATE = 0.05


def model(torch, seed):
    """In float32; where it is copied to, and as what, decides what is compared."""
    torch.manual_seed(seed)
    nn = torch.nn
    # tanh: a ReLU that changes its mind between float32 and float64 would look like a wrong gradient.
    return nn.Sequential(nn.Conv2d(CHANNELS, 8, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(8 * SIDE * SIDE, OUTPUTS))


def data(torch, seed):
    generator = torch.Generator().manual_seed(seed + 1)
    x = torch.rand((BATCH, CHANNELS, SIDE, SIDE), generator=generator, dtype=torch.float32) * 2 - 1
    y = torch.rand((BATCH, OUTPUTS), generator=generator, dtype=torch.float32) * 2 - 1
    return x, y


def loss_of(torch, net, x, y):
    return torch.nn.functional.mse_loss(net(x), y)


def gradients(net):
    return {name: p.grad.detach().to("cpu").double().reshape(-1).tolist()
            for name, p in net.named_parameters() if p.grad is not None}


def train(torch, net, x, y):
    """The gradients of the first step, and the losses before each step and after the last."""
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)
    first, losses = {}, []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(torch, net, x, y)
        loss.backward()
        if step == 0:
            first = gradients(net)
        losses.append(loss.item())
        optimizer.step()
    with torch.no_grad():
        losses.append(loss_of(torch, net, x, y).item())
    return first, losses


def check_twin(record, torch, net, x, y, seed):
    """The twin's own gradient against a difference of two losses along a random direction: no backward is in that."""
    net.zero_grad()
    loss_of(torch, net, x, y).backward()
    generator = torch.Generator().manual_seed(seed + 2)
    ways = [torch.rand(p.shape, generator=generator, dtype=torch.float64) * 2 - 1 for p in net.parameters()]
    slope = sum((p.grad * way).sum().item() for p, way in zip(net.parameters(), ways))
    step = 1e-5
    ends = []
    with torch.no_grad():
        for sign in (1, -2, 1):  # there, across, and back
            for p, way in zip(net.parameters(), ways):
                p.add_(way, alpha=sign * step)
            ends.append(loss_of(torch, net, x, y).item())
    measured = (ends[0] - ends[1]) / (2 * step)
    length = torch_compare.norm([x for values in gradients(net).values() for x in values])
    torch_compare.check_slope(record, slope, measured, length)


def autocast(torch, device):
    """autocast and gradient scaler of this torch; None where the CPU has no autocast (before torch 1.10)."""
    if device == "cpu":
        return (torch.autocast("cpu", dtype=torch.bfloat16), None) if hasattr(torch, "autocast") else (None, None)
    new = hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler")
    # A loss below 1 and so few values leave room for this scale: no step is skipped for an overflow.
    scaler = (torch.amp.GradScaler("cuda", init_scale=1024.0) if new else torch.cuda.amp.GradScaler(init_scale=1024.0))
    return torch.cuda.amp.autocast() if not hasattr(torch, "autocast") else torch.autocast("cuda", dtype=torch.float16), scaler


def mixed(record, torch, net, x, y, device):
    context, scaler = autocast(torch, device)
    if context is None:
        record.evidence["autocast"] = "not compared: this torch has none for the CPU"
        return
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)
    optimizer.zero_grad()
    with context:
        out = net(x)
        narrow = str(out.dtype)
        loss = torch.nn.functional.mse_loss(out.float(), y)
    if scaler is None:
        loss.backward()
        optimizer.step()
    else:
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    kind = "bfloat16" if device == "cpu" else "float16"
    record.check("autocast: computed in " + kind, narrow == "torch." + kind, "the result is " + narrow)
    torch_compare.check_finite(record, "autocast", gradients(net))


def body(record, torch, opts, device):
    seed = seed_of(opts)
    record.evidence["seed"] = seed
    # cuDNN's convolutions are TF32 by default, which is what torch.matmul is about.
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    net = model(torch, seed)
    x, y = data(torch, seed)
    check_twin(record, torch, copy.deepcopy(net).double(), x.double(), y.double(), seed)
    want, want_losses = train(torch, copy.deepcopy(net).double(), x.double(), y.double())
    x, y = x.to(device), y.to(device)
    got, losses = train(torch, copy.deepcopy(net).to(device), x, y)
    torch_compare.check_gradients(record, got, want)
    torch_compare.check_losses(record, losses, want_losses)
    mixed(record, torch, copy.deepcopy(net).to(device), x, y, device)
    record.evidence["losses"] = ["%.5g" % loss for loss in losses]
    return "%s: %d gradients agree, loss %.4g -> %.4g in %d steps" % (device, len(got), losses[0], losses[-1], STEPS)


if __name__ == "__main__":
    sys.exit(run("torch.step", sys.argv[1:], body))
