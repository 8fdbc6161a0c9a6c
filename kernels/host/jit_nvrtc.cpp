#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/host/driver_kernel.hpp"
#include "kernels/host/driver_verdict.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/host/jit_code.hpp"
#include "kernels/host/jit_library.hpp"
#include "kernels/host/nvrtc.hpp"
#include "kernels/host/own_program.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

NvrtcOutput make_nvrtc_cubin(const Nvrtc& nvrtc, const fatbin::Arch& arch) {
    return nvrtc.compile(std::string(kJitSum) + kJitSource,
                         {"--gpu-architecture=sm_" + fatbin::sm_number(arch)}, Nvrtc::Kind::cubin);
}

/// That it compiled, or what its answer means for the image.
bool must_compile(Record& record, const std::string& name, const NvrtcOutput& output) {
    const std::string note =
        "libnvrtc answers " + std::to_string(output.code) + (output.log.empty() ? "" : ": " + output.log);
    if (output.code == kNvrtcBuiltins) {
        return must(record, name, false, note, "no_builtins", "F9",
                    "install the libnvrtc-builtins of the same release where the loader finds it");
    }
    const bool of_arch = output.log.find("invalid value for --gpu-architecture") != std::string::npos;
    if (output.code == kNvrtcInvalidOption && of_arch) {
        return must(record, name, false, note, "unknown_arch", "F10",
                    "choose a CUDA release that knows this compute capability");
    }
    return must(record, name, output.code == 0, note, "not_compiled", "", "");
}

/// What is wrong with PTX that must be for `arch` and define the kernel; "" when nothing is.
std::string ptx_text_fault(const std::string& ptx, const fatbin::Arch& arch) {
    const std::string target = ".target sm_" + fatbin::sm_number(arch);
    const auto at = ptx.find(target);
    if (at == std::string::npos || std::isalnum(static_cast<unsigned char>(ptx[at + target.size()])) != 0)
        return "it has no " + target;
    if (ptx.find(".version ") == std::string::npos) return "it has no .version";
    if (ptx.find(std::string(".entry ") + kJitKernel) == std::string::npos)
        return std::string("it does not define ") + kJitKernel;
    return "";
}

/// "8.4" of ".version 8.4".
std::string ptx_text_isa(const std::string& ptx) {
    const std::string word = ".version ";
    const auto at = ptx.find(word);
    if (at == std::string::npos) return "";
    const auto begin = at + word.size();
    return ptx.substr(begin, ptx.find_first_not_of("0123456789.", begin) - begin);
}

/// One library: loads, is of the promised CUDA, and makes code for the cell.
json::Value examine_nvrtc(Record& record, const JitLibrary& library, const fatbin::Arch& arch) {
    const std::string owner = library.owner + " ";
    json::Value facts = json::Value::object();
    facts.set("owner", library.owner);
    facts.set("path", library.path);
    if (!must(record, owner + "load", library.handle != nullptr, library.error, "lib_absent", "F9",
              "install libnvrtc of the cell's CUDA, or rebuild the image")) {
        return facts;
    }
    const Nvrtc nvrtc(library.handle);
    const std::string version = nvrtc.version();
    facts.set("version", version);
    const bool right = library.cuda_major == 0 || std::atoi(version.c_str()) == library.cuda_major;
    if (!must(record, owner + "version", !version.empty() && right,
              library.path + " is " + (version.empty() ? "of no version" : version) +
                  ", the cell promises CUDA " + std::to_string(library.cuda_major),
              "wrong_library", "F9", "look at LD_LIBRARY_PATH and at a second CUDA in the image") ||
        !must(record, owner + "functions", nvrtc.complete(), library.path + " makes no cubins",
              "wrong_library", "F9", "it is older than CUDA 11.2, or no libnvrtc")) {
        return facts;
    }
    const NvrtcOutput cubin = make_nvrtc_cubin(nvrtc, arch);
    if (must_compile(record, owner + "cubin", cubin)) {
        const std::string fault = cubin_fault(cubin.binary, arch);
        must(record, owner + "code", fault.empty(), fault, "wrong_code", "", "");
    }
    const NvrtcOutput ptx =
        nvrtc.compile(std::string(kJitSum) + kJitSource,
                      {"--gpu-architecture=compute_" + fatbin::sm_number(arch)}, Nvrtc::Kind::ptx);
    if (must_compile(record, owner + "PTX", ptx)) {
        const std::string fault = ptx_text_fault(ptx.binary, arch);
        must(record, owner + "PTX text", fault.empty(), fault, "wrong_code", "", "");
        facts.set("ptx_isa", ptx_text_isa(ptx.binary));
    }
    return facts;
}

Record nvrtc_load(const std::vector<JitLibrary>& libraries, const fatbin::Arch& arch) {
    Record record;
    json::Value list = json::Value::array();
    std::string summary;
    for (const JitLibrary& library : libraries) {
        json::Value facts = examine_nvrtc(record, library, arch);
        summary += (summary.empty() ? "" : ", ") + library.owner + ": libnvrtc " + facts.text_of("version");
        list.push_back(std::move(facts));
    }
    record = judge(record, record.reason, summary + ", code for " + fatbin::to_text(arch));
    add_evidence(record, "libraries", list);
    return record;
}

Record nvrtc_on_gpu(const Context& context, const std::vector<JitLibrary>& libraries,
                    const fatbin::Arch& arch) {
    // Before there is a driver in the process: libnvrtc of 13.0 asks one that is loaded.
    std::vector<NvrtcOutput> cubins;
    for (const JitLibrary& library : libraries)
        cubins.push_back(make_nvrtc_cubin(Nvrtc(library.handle), arch));
    DriverOptions options;
    options.root = context.root;
    const DriverFacts driver = probe_driver(options);
    if (auto without = without_gpu(driver, context)) return *without;
    Record record;
    for (std::size_t i = 0; i < libraries.size(); ++i) {
        const std::string& owner = libraries[i].owner;
        if (cubins[i].code != 0)
            return Record::skip("prereq_failed", owner + ": no code was made, see part load");
        const AddRun run = run_add(driver, cubins[i].binary, kJitKernel);
        if (!run.call.empty()) {
            return add_failure(run,
                               {{209, "no_kernel_image", "F6", "the GPU is not the cell's: see dev.query"}});
        }
        check_add(record, run, {arch_macro(arch)}, owner + " ");
    }
    return judge(record, "mismatch", std::to_string(kAddLength) + " sums exact by code of libnvrtc");
}

}  // namespace

/// libnvrtc of the toolkit, and of torch where the cell has it.
Record jit_nvrtc(const Context& context) {
    const auto arch = cell_arch(context);
    if (!arch) return Record::skip("not_in_cell", "the cell names no compute capability");
    const std::vector<JitLibrary> libraries = find_jit_libraries(context, kNvrtcName);
    if (libraries.empty()) return Record::skip("not_in_cell", "no libnvrtc is promised, and none is there");
    return context.part == "gpu" ? nvrtc_on_gpu(context, libraries, *arch) : nvrtc_load(libraries, *arch);
}

}  // namespace cudamatrix::suite
