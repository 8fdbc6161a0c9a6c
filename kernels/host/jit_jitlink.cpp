#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/host/driver_kernel.hpp"
#include "kernels/host/driver_verdict.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/host/jit_code.hpp"
#include "kernels/host/jit_library.hpp"
#include "kernels/host/nvjitlink.hpp"
#include "kernels/host/nvrtc.hpp"
#include "kernels/host/own_program.hpp"
#include "kernels/host/paths.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

constexpr const char* kPtxVersion = ".version 7.0";          // of CUDA 11.0
constexpr const char* kPtxOfNobody = ".version 99.9";        // no release will have it
constexpr const char* kPtxRefused = "Unsupported .version";  // as the driver says it, too

/// One of the image's, with the libnvrtc of the same owner, where it has one that makes LTO-IR.
struct Linker {
    JitLibrary library;
    std::vector<LinkInput> lto;  ///< the kernel and what it calls; empty without such a libnvrtc
    std::string compiler;        ///< the version of that libnvrtc
};

std::vector<LinkInput> make_lto(const Nvrtc& nvrtc, const fatbin::Arch& arch) {
    std::vector<LinkInput> pair;
    const std::string option = "--gpu-architecture=compute_" + fatbin::sm_number(arch);
    for (const std::string& source :
         {std::string(kJitSumElsewhere) + kJitSource, std::string(kJitElsewhere)}) {
        NvrtcOutput made = nvrtc.compile(source, {option, "-dlto"}, Nvrtc::Kind::lto);
        if (made.code != 0) return {};  // jit.nvrtc says why it does not compile
        pair.push_back({LinkInput::Kind::lto, std::move(made.binary)});
    }
    return pair;
}

std::vector<Linker> find_linkers(const Context& context, const fatbin::Arch& arch) {
    std::vector<Linker> linkers;
    const std::vector<JitLibrary> compilers = find_jit_libraries(context, kNvrtcName);
    for (JitLibrary& library : find_jit_libraries(context, kNvJitLinkName)) {
        Linker linker{std::move(library), {}, ""};
        for (const JitLibrary& compiler : compilers) {
            const Nvrtc nvrtc(compiler.handle);
            // One of another CUDA is jit.nvrtc's finding.
            const bool right =
                compiler.cuda_major == 0 || std::atoi(nvrtc.version().c_str()) == compiler.cuda_major;
            if (compiler.owner != linker.library.owner || !right) continue;
            linker.lto = make_lto(nvrtc, arch);
            linker.compiler = nvrtc.version();
        }
        linkers.push_back(std::move(linker));
    }
    return linkers;
}

LinkOutput link_ptx(const NvJitLink& linker, const char* version, const fatbin::Arch& arch) {
    return linker.link({{LinkInput::Kind::ptx, std::string(version) + kJitPtx}},
                       {"-arch=sm_" + fatbin::sm_number(arch)});
}

LinkOutput link_lto(const NvJitLink& linker, const std::vector<LinkInput>& pair, const fatbin::Arch& arch) {
    return linker.link(pair, {"-arch=sm_" + fatbin::sm_number(arch), "-lto"});
}

/// That it linked to code for the cell, or what its answer means for the image.
bool must_link(Record& record, const std::string& name, const LinkOutput& output, const fatbin::Arch& arch) {
    const std::string note = "libnvJitLink answers " + std::to_string(output.code) + ": " +
                             output.log.substr(0, output.log.find('\n'));
    // 12.x passes on what ptxas says of it.
    const bool unknown = output.code == kNvJitLinkUnknownArch || output.code == kNvJitLinkUnsupportedArch ||
                         output.log.find("is not defined for option 'gpu-name'") != std::string::npos;
    if (output.code != 0 && unknown) {
        return must(record, name, false, note, "unknown_arch", "F10",
                    "choose a CUDA release that knows this compute capability");
    }
    if (!must(record, name, output.code == 0, note, "not_linked", "", "")) return false;
    const std::string fault = cubin_fault(output.cubin, arch);
    return must(record, name + " code", fault.empty(), fault, "wrong_code", "", "");
}

/// LTO-IR of a newer libnvrtc is not read: then the two do not belong together.
void must_link_lto(Record& record, const std::string& name, const Linker& one, const NvJitLink& linker,
                   const std::string& version, const fatbin::Arch& arch) {
    const LinkOutput output = link_lto(linker, one.lto, arch);
    if (output.code != 0 && compare_versions(one.compiler, version) > 0) {
        must(record, name, false, "libnvrtc " + one.compiler + " is newer than libnvJitLink " + version,
             "wrong_library", "F11", "install both of the same release");
        return;
    }
    must_link(record, name, output, arch);
}

/// As it says it, otherwise what its name says: "12" of libnvJitLink.so.12.
std::string version_of_linker(const NvJitLink& linker, const std::string& path) {
    std::string version = linker.version();
    if (!version.empty()) return version;
    const std::string name = file_name(path);
    const auto at = name.find(".so.");
    return at == std::string::npos ? "" : name.substr(at + 4);
}

json::Value examine_linker(Record& record, const Linker& one, const fatbin::Arch& arch) {
    const JitLibrary& library = one.library;
    const std::string owner = library.owner + " ";
    json::Value facts = json::Value::object();
    facts.set("owner", library.owner);
    facts.set("path", library.path);
    if (!must(record, owner + "load", library.handle != nullptr, library.error, "lib_absent", "F11",
              "install libnvJitLink of the cell's CUDA, or rebuild the image")) {
        return facts;
    }
    const NvJitLink linker(library.handle);
    const std::string version = version_of_linker(linker, library.path);
    facts.set("version", version);
    const bool right = library.cuda_major == 0 || std::atoi(version.c_str()) == library.cuda_major;
    if (!must(record, owner + "version", right,
              library.path + " is " + (version.empty() ? "of no version" : version) +
                  ", the cell promises CUDA " + std::to_string(library.cuda_major),
              "wrong_library", "F11", "look at LD_LIBRARY_PATH and at a second CUDA in the image") ||
        !must(record, owner + "functions", linker.complete(), library.path + " cannot link", "wrong_library",
              "F11", "it is no libnvJitLink")) {
        return facts;
    }
    if (!must_link(record, owner + "PTX", link_ptx(linker, kPtxVersion, arch), arch)) return facts;
    const LinkOutput refused = link_ptx(linker, kPtxOfNobody, arch);
    must(record, owner + "refuses newer PTX",
         refused.code != 0 && refused.log.find(kPtxRefused) != std::string::npos,
         "for PTX of " + std::string(kPtxOfNobody) + " it answers " + std::to_string(refused.code) + ": " +
             refused.log.substr(0, refused.log.find('\n')),
         "not_refused", "", "");
    if (!one.lto.empty()) must_link_lto(record, owner + "LTO-IR", one, linker, version, arch);
    facts.set("lto", !one.lto.empty());
    return facts;
}

Record linkers_load(const std::vector<Linker>& linkers, const fatbin::Arch& arch) {
    Record record;
    json::Value list = json::Value::array();
    std::string summary;
    for (const Linker& one : linkers) {
        json::Value facts = examine_linker(record, one, arch);
        summary += (summary.empty() ? "" : ", ") + one.library.owner + ": libnvJitLink " +
                   facts.text_of("version") + (one.lto.empty() ? "" : " with LTO-IR");
        list.push_back(std::move(facts));
    }
    record = judge(record, record.reason, summary + ", code for " + fatbin::to_text(arch));
    add_evidence(record, "libraries", list);
    return record;
}

/// Code that was linked, for the GPU.
struct Linked {
    std::string name;  ///< "toolkit PTX "
    LinkOutput output;
    unsigned arch;  ///< that it says it is for
};

std::vector<Linked> link_all(const std::vector<Linker>& linkers, const fatbin::Arch& arch) {
    std::vector<Linked> all;
    for (const Linker& one : linkers) {
        const NvJitLink linker(one.library.handle);
        const std::string& owner = one.library.owner;
        all.push_back({owner + " PTX ", link_ptx(linker, kPtxVersion, arch), kJitPtxArch});
        if (!one.lto.empty())
            all.push_back({owner + " LTO-IR ", link_lto(linker, one.lto, arch), arch_macro(arch)});
    }
    return all;
}

Record linkers_on_gpu(const Context& context, const std::vector<Linker>& linkers, const fatbin::Arch& arch) {
    const std::vector<Linked> all = link_all(linkers, arch);  // before there is a driver, as jit.nvrtc
    DriverOptions options;
    options.root = context.root;
    const DriverFacts driver = probe_driver(options);
    if (auto without = without_gpu(driver, context)) return *without;
    Record record;
    for (const Linked& linked : all) {
        if (linked.output.code != 0)
            return Record::skip("prereq_failed", linked.name + "was not linked, see part load");
        const AddRun run = run_add(driver, linked.output.cubin, kJitKernel);
        if (!run.call.empty()) {
            return add_failure(run,
                               {{209, "no_kernel_image", "F6", "the GPU is not the cell's: see dev.query"}});
        }
        check_add(record, run, {linked.arch}, linked.name);
    }
    return judge(record, "mismatch", std::to_string(kAddLength) + " sums exact by code of libnvJitLink");
}

}  // namespace

/// libnvJitLink of the toolkit, and of torch where it has one.
Record jit_jitlink(const Context& context) {
    const auto arch = cell_arch(context);
    if (!arch) return Record::skip("not_in_cell", "the cell names no compute capability");
    const std::vector<Linker> linkers = find_linkers(context, *arch);
    if (linkers.empty()) return Record::skip("not_in_cell", "no libnvJitLink is promised, and none is there");
    return context.part == "gpu" ? linkers_on_gpu(context, linkers, *arch) : linkers_load(linkers, *arch);
}

}  // namespace cudamatrix::suite
