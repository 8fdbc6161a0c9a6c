#include "kernels/host/driver_kernel.hpp"

#include <chrono>
#include <cstring>

#include "kernels/host/library.hpp"
#include "kernels/support/philox.hpp"

namespace cudamatrix::suite {
namespace {

constexpr std::size_t kAddGuard = 256;           // floats behind the sums
constexpr std::uint32_t kAddBlank = 0x7fa5a5a5;  // a NaN that no sum is
constexpr const char* kAddSeed = "jit.add";
constexpr int kSymbolAbsent = -1;

struct AddInputs {
    std::vector<float> a;
    std::vector<float> b;
};

/// Signs and magnitudes mixed, so that sums have to be rounded.
AddInputs add_inputs() {
    const Philox philox(seed_of(kAddSeed));
    AddInputs inputs;
    for (int i = 0; i < kAddLength; ++i) {
        inputs.a.push_back(philox.uniform(static_cast<std::uint64_t>(i), 0) * 1024.0F);
        inputs.b.push_back(philox.uniform(static_cast<std::uint64_t>(i), 1));
    }
    return inputs;
}

std::uint32_t add_bits(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

std::vector<float> add_blank() {
    float blank = 0;
    std::memcpy(&blank, &kAddBlank, sizeof blank);
    return std::vector<float>(kAddLength + kAddGuard, blank);
}

/// The entry points that load and start code, as in cuda.h; present since CUDA 7.
struct KernelApi {
    int (*retain)(void**, int) = nullptr;
    int (*set_current)(void*) = nullptr;
    int (*load)(void**, const void*, unsigned, int*, void**) = nullptr;
    int (*function)(void**, void*, const char*) = nullptr;
    int (*allocate)(std::uint64_t*, std::size_t) = nullptr;
    int (*to_device)(std::uint64_t, const void*, std::size_t) = nullptr;
    int (*to_host)(void*, std::uint64_t, std::size_t) = nullptr;
    int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                  void**) = nullptr;
    int (*synchronize)() = nullptr;
};

/// Makes the calls, until one fails. All memory goes with the process.
class AddSession {
  public:
    explicit AddSession(const DriverFacts& driver) : driver_(driver) {
        const bool all = bind_symbol(driver.library, "cuDevicePrimaryCtxRetain", api_.retain) &&
                         bind_symbol(driver.library, "cuCtxSetCurrent", api_.set_current) &&
                         bind_symbol(driver.library, "cuModuleLoadDataEx", api_.load) &&
                         bind_symbol(driver.library, "cuModuleGetFunction", api_.function) &&
                         bind_symbol(driver.library, "cuMemAlloc_v2", api_.allocate) &&
                         bind_symbol(driver.library, "cuMemcpyHtoD_v2", api_.to_device) &&
                         bind_symbol(driver.library, "cuMemcpyDtoH_v2", api_.to_host) &&
                         bind_symbol(driver.library, "cuLaunchKernel", api_.launch) &&
                         bind_symbol(driver.library, "cuCtxSynchronize", api_.synchronize);
        if (!all || driver.api.device_get == nullptr) failed("entry points of the driver", kSymbolAbsent);
    }

    bool load(const std::string& image, const char* kernel) {
        int device = 0;
        void* context = nullptr;
        if (!run.call.empty() || !ok(driver_.api.device_get(&device, 0), "cuDeviceGet") ||
            !ok(api_.retain(&context, device), "cuDevicePrimaryCtxRetain") ||
            !ok(api_.set_current(context), "cuCtxSetCurrent")) {
            return false;
        }
        void* module = nullptr;
        const auto begin = std::chrono::steady_clock::now();
        const bool loaded = ok(load_module(&module, image), "cuModuleLoadDataEx");
        run.load_ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
        return loaded && ok(api_.function(&function_, module, kernel), "cuModuleGetFunction");
    }

    void add(const AddInputs& inputs) {
        AddArgs args{0, 0, 0, kAddLength, 0};
        run.out = add_blank();
        const std::size_t out_bytes = run.out.size() * sizeof(float);
        if (!upload(args.a, inputs.a.data(), inputs.a.size() * sizeof(float)) ||
            !upload(args.b, inputs.b.data(), inputs.b.size() * sizeof(float)) ||
            !upload(args.c, run.out.data(), out_bytes) || !upload(args.flag, &run.flag, sizeof run.flag)) {
            return;
        }
        void* parameters[] = {&args};
        static_cast<void>(
            ok(api_.launch(function_, kAddBlocks, 1, 1, kAddThreads, 1, 1, 0, nullptr, parameters, nullptr),
               "cuLaunchKernel") &&
            ok(api_.synchronize(), "cuCtxSynchronize") &&
            ok(api_.to_host(run.out.data(), args.c, out_bytes), "cuMemcpyDtoH") &&
            ok(api_.to_host(&run.flag, args.flag, sizeof run.flag), "cuMemcpyDtoH"));
    }

    AddRun run;

  private:
    bool failed(const char* call, int code) {
        run.call = call;
        run.code = code;
        return false;
    }
    bool ok(int code, const char* call) { return code == 0 || failed(call, code); }

    int load_module(void** module, const std::string& image) {
        char log[4096] = "";
        int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size in bytes
        void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1)};
        const int code = api_.load(module, image.c_str(), 2, options, values);
        run.log.assign(log, ::strnlen(log, sizeof log));
        return code;
    }

    bool upload(std::uint64_t& at, const void* from, std::size_t bytes) {
        return ok(api_.allocate(&at, bytes), "cuMemAlloc") &&
               ok(api_.to_device(at, from, bytes), "cuMemcpyHtoD");
    }

    const DriverFacts& driver_;
    KernelApi api_;
    void* function_ = nullptr;
};

}  // namespace

AddRun run_add(const DriverFacts& driver, const std::string& image, const char* kernel) {
    AddSession session(driver);
    if (session.load(image, kernel)) session.add(add_inputs());
    return session.run;
}

void check_add(Record& record, const AddRun& run, const std::vector<unsigned>& arches,
               const std::string& prefix) {
    record.check(prefix + "ran_flag", run.flag.blocks == kAddBlocks,
                 std::to_string(run.flag.blocks) + " of " + std::to_string(kAddBlocks) + " blocks reported");
    std::string names;
    bool one_of = false;
    for (const unsigned arch : arches) {
        one_of = one_of || arch == run.flag.arch;
        names += (names.empty() ? "" : ", ") + std::to_string(arch);
    }
    record.check(prefix + "code", one_of,
                 "what ran is code for " + std::to_string(run.flag.arch) + ", not for " + names);
    const AddInputs inputs = add_inputs();
    std::size_t wrong = 0;
    std::size_t touched = 0;
    for (std::size_t i = 0; i < run.out.size(); ++i) {
        if (i >= inputs.a.size()) {
            touched += add_bits(run.out[i]) == kAddBlank ? 0 : 1;
            continue;
        }
        // Rounding a float64 sum of two floats to float gives the correctly rounded sum: 53 >= 2 * 24 + 2.
        const double sum = static_cast<double>(inputs.a[i]) + static_cast<double>(inputs.b[i]);
        wrong += add_bits(run.out[i]) == add_bits(static_cast<float>(sum)) ? 0 : 1;
    }
    record.check(prefix + "exact", wrong == 0 && run.out.size() == inputs.a.size() + kAddGuard,
                 std::to_string(wrong) + " of " + std::to_string(inputs.a.size()) + " sums differ");
    record.check(prefix + "nothing_beyond", touched == 0,
                 std::to_string(touched) + " elements beyond the end were written");
}

Record add_failure(const AddRun& run, const std::vector<CodeMeaning>& meanings) {
    std::string summary = run.code == kSymbolAbsent ? "the driver lacks " + run.call
                                                    : run.call + " answers " + std::to_string(run.code);
    if (!run.log.empty()) summary += ": " + run.log.substr(0, run.log.find('\n'));
    Record record = Record::fail("cuda_error", "", summary);
    for (const CodeMeaning& meaning : meanings) {
        if (meaning.code != run.code) continue;
        record.reason = meaning.reason;
        record.fault = meaning.fault;
        record.hint = meaning.hint;
    }
    if (run.code != kSymbolAbsent) record.error = {run.call, run.code, ""};
    return record;
}

}  // namespace cudamatrix::suite
