#include "kernels/interpreter/cudart_state.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fatbin/cover.hpp"
#include "kernels/interpreter/cudart_streams.hpp"
#include "kernels/interpreter/parser.hpp"

namespace cudamatrix::suite::ptx {
namespace {

thread_local int last_error = kSuccess;

void say(const std::string& text) {
    std::fprintf(stderr, "interpreter: %s\n", text.c_str());
}

/// A number in the environment; anything else ends the program, for a wrong setting must not look like a
/// result.
std::uint64_t setting(const char* name, std::uint64_t usual) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return usual;
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(text, &end, 10);
    if (*end == '\0' && *text >= '0' && *text <= '9') return value;
    say(std::string("invalid ") + name + " \"" + text + "\": expected a number");
    std::exit(2);
}

unsigned capability_setting() {
    const char* text = std::getenv("CUDAMATRIX_INTERPRETER_CC");
    if (text == nullptr || *text == '\0') return 0;
    const auto arch = fatbin::parse_arch(text);
    if (arch) return static_cast<unsigned>(arch->major * 10 + arch->minor);
    say(std::string("invalid CUDAMATRIX_INTERPRETER_CC \"") + text +
        "\": expected a compute capability like 8.6");
    std::exit(2);
}

unsigned number_of(const fatbin::Arch& arch) {
    return static_cast<unsigned>(arch.major * 10 + arch.minor);
}

/// The PTX with the highest target that the device can run, as a driver chooses.
const fatbin::Entry* choose(const fatbin::Contents& contents, unsigned capability) {
    const fatbin::Entry* best = nullptr;
    for (const fatbin::Entry& entry : contents.entries) {
        const fatbin::Arch device = fatbin::arch_from_number(capability);
        if (entry.kind != fatbin::Kind::ptx || !fatbin::ptx_compiles_for(entry.arch, device)) continue;
        if (best == nullptr || number_of(entry.arch) > number_of(best->arch)) best = &entry;
    }
    return best;
}

}  // namespace

Runtime::Runtime() : memory(setting("CUDAMATRIX_INTERPRETER_MEMORY", 4096) << 20) {
    options.step_limit = setting("CUDAMATRIX_INTERPRETER_STEPS", options.step_limit);
    options.schedules = static_cast<unsigned>(setting("CUDAMATRIX_INTERPRETER_SCHEDULES", 1));
    options.seed = setting("CUDAMATRIX_INTERPRETER_SEED", 1);
    options.threads = static_cast<unsigned>(setting("CUDAMATRIX_INTERPRETER_THREADS", 0));
    options.races = setting("CUDAMATRIX_INTERPRETER_RACES", 1) != 0;
    statistics = setting("CUDAMATRIX_INTERPRETER_STATISTICS", 0) != 0;
    capability = capability_setting();
}

Runtime::~Runtime() = default;

Runtime& Runtime::get() {
    static auto* runtime = new Runtime;
    return *runtime;
}

unsigned Runtime::device_capability() {
    if (capability != 0) return capability;
    unsigned highest = 0;
    for (const auto& image : images) {
        for (const fatbin::Entry& entry : fatbin::read(image->bytes).entries) {
            if (entry.kind == fatbin::Kind::ptx) highest = std::max(highest, number_of(entry.arch));
        }
    }
    constexpr unsigned kUsual = 80;
    return highest != 0 ? highest : kUsual;
}

Module* Runtime::module_of(Image& image) {
    if (image.module != nullptr || image.error != kSuccess) return image.module.get();
    const fatbin::Contents contents = fatbin::read(image.bytes);
    const fatbin::Entry* entry = choose(contents, device_capability());
    if (entry == nullptr) {
        say("the program has no PTX for compute capability " + std::to_string(device_capability() / 10) +
            "." + std::to_string(device_capability() % 10));
        image.error = kNoKernelImage;
        return nullptr;
    }
    if (entry->compressed) {
        say("the program's PTX is compressed: build it with nvcc --no-compress");
        image.error = kInvalidPtx;
        return nullptr;
    }
    const auto* text = reinterpret_cast<const char*>(entry->bytes.data);
    ParseResult parsed = parse_module({text, entry->bytes.size});
    if (parsed.module == nullptr) {
        say(parsed.error);
        image.error = kInvalidPtx;
        return nullptr;
    }
    std::string error;
    if (!load_module(*parsed.module, memory, error)) {
        say(error);
        image.error = kMemoryAllocation;
        return nullptr;
    }
    image.module = std::move(parsed.module);
    return image.module.get();
}

FoundKernel Runtime::find(const void* host) {
    const auto known = kernels.find(host);
    if (known == kernels.end()) return {nullptr, nullptr, kInvalidDeviceFunction};
    Kernel& kernel = known->second;
    const Module* module = module_of(*kernel.image);
    if (module == nullptr) return {nullptr, nullptr, kernel.image->error};
    const Function* function = module->entry(kernel.name);
    if (function == nullptr) return {nullptr, nullptr, kInvalidDeviceFunction};
    return {&kernel, function, kSuccess};
}

int remember(int error) {
    if (error != kSuccess) last_error = error;
    return error;
}

int result(int error) {
    const int sticky = Runtime::get().sticky;
    return remember(sticky != kSuccess ? sticky : error);
}

std::vector<Call>& pushed_calls() {
    thread_local std::vector<Call> calls;
    return calls;
}

}  // namespace cudamatrix::suite::ptx

using namespace cudamatrix::suite::ptx;

CUDAMATRIX_API int cudaGetLastError() {
    const int error = last_error != kSuccess ? last_error : Runtime::get().sticky;
    last_error = kSuccess;
    return error;
}

CUDAMATRIX_API int cudaPeekAtLastError() {
    return last_error != kSuccess ? last_error : Runtime::get().sticky;
}
