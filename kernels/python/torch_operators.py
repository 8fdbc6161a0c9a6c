"""The parts "gpu" and "cpu" of lib.*: torch's own operators, which call the CUDA libraries on a GPU, against direct sums.

On the CPU the same code runs on what torch has in their place.
"""
import library_checks
from library_checks import Unsupported
from suite_record import Skip, seed_of
from torch_arch import loaded_libraries
from torch_matmul import full_precision


class Operators:
    """Plain numbers in, plain numbers out; torch and the device between."""

    def __init__(self, torch, device):
        self.torch, self.device = torch, device
        self.has_tf32 = torch.cuda.get_device_capability(0)[0] >= 8 if device == "cuda" else None
        full_precision(torch)
        torch.backends.cudnn.allow_tf32 = False

    def there(self, values, kind="float32"):
        return self.torch.tensor(values, dtype=getattr(self.torch, kind)).to(self.device)

    def back(self, tensor, kind=""):
        if kind and str(tensor.dtype) != "torch." + kind:
            raise TypeError("the result is %s, not %s" % (tensor.dtype, kind))
        return tensor.detach().to("cpu").double().tolist()

    def product(self, kind, a, b, tf32):
        """The second factor as its columns lie in memory, so that one of the two is turned."""
        self.torch.backends.cuda.matmul.allow_tf32 = tf32
        x, y = self.there(a, kind), self.there(b, kind).t().contiguous().t()
        try:
            return self.back(self.torch.matmul(x, y), kind)
        except RuntimeError as error:
            if self.device == "cpu" and "not implemented for" in str(error):  # halves before torch 2.2
                raise Unsupported(str(error).split("\n")[0])
            raise
        finally:
            self.torch.backends.cuda.matmul.allow_tf32 = False

    def convolution(self, x, w, stride):
        if self.device == "cuda" and not self.torch.backends.cudnn.is_available():
            raise RuntimeError("torch.backends.cudnn.is_available() is False")
        y = self.torch.nn.functional.conv2d(self.there(x), self.there(w), stride=stride, padding=1)
        return self.back(y.reshape(-1), "float32")

    def transform(self, values, inverse):
        if not hasattr(self.torch.fft, "fft"):
            raise Skip("not_in_cell", "this torch has no torch.fft.fft (before 1.7)")
        x = self.there(values, "complex64")
        y = self.torch.fft.ifft(x) if inverse else self.torch.fft.fft(x)
        if str(y.dtype) != "torch.complex64":
            raise TypeError("the result is %s, not complex64" % y.dtype)
        return y.to("cpu").tolist()

    def sparse(self, form, starts, columns, values, width, x):
        torch, size = self.torch, (len(starts) - 1, width)
        if form == "coo":
            rows = [i for i, (a, b) in enumerate(zip(starts, starts[1:])) for _ in range(b - a)]
            matrix = torch.sparse_coo_tensor(torch.tensor([rows, columns]), torch.tensor(values), size).to(self.device)
            return self.back(torch.sparse.mm(matrix, self.there(x).reshape(-1, 1)).reshape(-1), "float32")
        if not hasattr(torch, "sparse_csr_tensor"):
            raise Unsupported("this torch has no such tensors (before 1.9)")
        try:
            matrix = torch.sparse_csr_tensor(torch.tensor(starts), torch.tensor(columns), torch.tensor(values), size).to(self.device)
            return self.back(matrix.matmul(self.there(x)), "float32")
        except RuntimeError as error:
            if self.device == "cpu":  # they need MKL
                raise Unsupported(str(error).split("\n")[0])
            raise

    def cholesky(self, a):
        if hasattr(self.torch.backends.cuda, "preferred_linalg_library"):
            self.torch.backends.cuda.preferred_linalg_library("cusolver")
        factor = self.torch.linalg.cholesky if hasattr(getattr(self.torch, "linalg", None), "cholesky") else self.torch.cholesky
        return self.back(factor(self.there(a, "float64")), "float64")


CHECKS = {"lib.cublas": library_checks.check_gemm, "lib.cudnn": library_checks.check_convolution, "lib.cufft": library_checks.check_transform,
          "lib.cusparse": library_checks.check_sparse, "lib.cusolver": library_checks.check_cholesky}


def body(record, torch, opts, device):
    if not torch.version.cuda:
        raise Skip("not_in_cell", "the cell's torch is built without CUDA")
    seed = seed_of(opts)
    record.evidence["seed"] = seed
    said = CHECKS[record.test](record, Operators(torch, device), seed)
    if device == "cuda":
        name = record.test.partition(".")[2]
        record.evidence["libraries"] = [path for path in loaded_libraries() if "/lib" + name in path]
    return "%s: %s" % (device, said)
