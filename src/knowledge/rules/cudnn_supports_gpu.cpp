// Has that cuDNN code for the GPU, in each of its libraries? A release drops old GPUs and cannot know later
// ones; from some release on its PTX reaches those, with limits.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/cudnn.hpp"
#include "knowledge/resolve/package_wheels.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

enum class Code { none, ptx, native };

facts::Values native(const Row& row) {
    return row.list(row.has("sass") ? "sass" : "named");
}

// What its maker says of the releases for that CUDA: each row has one.
Row range_of(const Facts& facts, const Row& row) {
    return *facts.row(fmt::format("cudnn-cuda-{}", row.text("cuda_major")));
}

Code code_for(const Context& context, const Row& row, const Device& gpu) {
    const auto device = device_arch(gpu.arch);
    if (has_sass(native(row), device)) return Code::native;
    if (!ptx_for(row.list("ptx"), device)) return Code::none;
    const auto since = Version::parse(range_of(context.facts, row).text("forward_from"));
    return since && lookup::required_version(row, "cudnn") >= *since ? Code::ptx : Code::none;
}

std::string text_of(const Row& row) {
    return cudnn_text(row.text("cudnn"), row.text("cuda_major"));
}

// What it has instead.
std::string holds(const Row& row) {
    if (!row.has("sass"))
        return fmt::format("NVIDIA names the architectures of compute {} for it", listed(row.list("named")));
    auto out = fmt::format("each of its libraries has SASS for {}", listed(row.list("sass")));
    if (row.has("partly"))
        out += fmt::format(", and only {} for {}", listed(row.list("partly_in")), listed(row.list("partly")));
    return out;
}

void say(Ask& ask, const Device& gpu, const Row& row, Code code, std::size_t others) {
    auto facts = gpu.facts;
    facts.push_back(row.ref());
    if (code == Code::native) {
        if (row.has("sass"))
            return ask.accept(std::move(facts),
                              "whether each library of {} with kernels has machine code for {}", text_of(row),
                              gpu.text);
        return ask.accept(std::move(facts), "whether {} is of an architecture that NVIDIA names for {}",
                          gpu.text, text_of(row));
    }
    if (code == Code::ptx) {
        ask.degrade(
               "{} has no machine code for {}: the driver compiles its PTX for {} when it is first loaded, with "
               "the limits that NVIDIA lists for hardware forward compatibility",
               text_of(row), gpu.text, *ptx_for(row.list("ptx"), device_arch(gpu.arch)))
            .because(facts)
            .because(range_of(ask.facts, row).ref())
            .accepted_other(Field::cudnn);
        return;
    }
    const auto text = others == 0
                          ? fmt::format("{} has no code for {}: {}", text_of(row), gpu.text, holds(row))
                          : fmt::format("no cuDNN {} has code for {}: the newest is {}: {}",
                                        ask.cell.text(Field::cudnn), gpu.text, text_of(row), holds(row));
    auto answer = ask.reject("{}", text);
    answer.because(facts);
    if (!row.list("ptx").empty()) answer.because(range_of(ask.facts, row).ref());
    answer.accepted_other(Field::cudnn).accepted_other(Field::cuda);
}

// What gets installed where nothing else says which: the newest.
void mention_newest(Ask& ask, const Device& gpu, const Row& best, const Row& newest) {
    ask.question(ask.about(), {}, "newest");
    ask.note("{} is the newest cuDNN {} with machine code for {}: {} has none in {}", text_of(best),
             ask.cell.text(Field::cudnn), gpu.text, text_of(newest),
             newest.has("partly") ? "most of its libraries" : "its libraries")
        .because(best.ref())
        .because(newest.ref());
}

// Those for the cell's CUDA and machine, the newest last.
std::vector<Row> for_cell(const Ask& ask, std::vector<Row> rows, const std::optional<std::string>& major) {
    const auto arch = arch_of(ask);
    std::erase_if(rows, [&](const Row& row) {
        return !(row.has("sass") || row.has("named")) || row.text("arch") != arch ||
               (major && row.text("cuda_major") != *major);
    });
    return rows;
}

// The majors of CUDA that the release may be for.
std::vector<std::string> majors_of(const Context& context, const std::optional<std::string>& major) {
    if (major) return {*major};
    std::vector<std::string> out;
    for (const auto& row : context.facts.rows("cudnn_cuda")) {
        std::string each(row.text("cuda_major"));
        if (!never_for_cuda(context, each)) out.push_back(std::move(each));
    }
    return out;
}

// The newest toolkits of those majors, where none of them makes machine code for the device: then no library
// that they compiled has any, whatever nobody looked into.
std::vector<FactRef> toolkits_without(const Facts& facts, const std::vector<std::string>& majors,
                                      const Device& gpu) {
    std::vector<FactRef> out;
    for (const auto& major : majors) {
        std::optional<FactRef> newest;
        for (const auto& row : facts.rows("cuda_toolkits")) {  // sorted
            if (std::to_string(lookup::required_version(row, "cuda").major()) != major) continue;
            if (has_sass(row.list("targets"), device_arch(gpu.arch))) return {};
            newest = row.ref();
        }
        if (!newest) return {};
        out.push_back(*newest);
    }
    return out;
}

void judge_unread(Ask& ask, const Device& gpu, const std::optional<std::string>& major,
                  const std::string& text, const Machine& machine) {
    const auto majors = majors_of(ask, major);
    auto toolkits = toolkits_without(ask.facts, majors, gpu);
    if (toolkits.empty()) {
        ask.unknown(Field::cudnn, "no fact says which code {} for {} holds", text, machine.text);
        return;
    }
    auto facts = gpu.facts;
    facts.insert(facts.end(), toolkits.begin(), toolkits.end());
    ask.reject("{} has no machine code for {}: {}no nvcc of CUDA {} makes any", text, gpu.text,
               major ? "" : fmt::format("it is for CUDA {}, and ", text::join(majors, ", ")),
               text::join(majors, " or "))
        .because(facts)
        .accepted_other(Field::cudnn)
        .accepted_other(Field::cuda);
}

void judge_cudnn_supports_gpu(Ask& ask) {
    const auto device = if_known(rules::device(ask));
    if (!device || !known_cudnn(ask)) return;  // driver-supports-gpu and cudnn-published-for-cuda report them
    const auto major = cuda_major(ask);
    if (major && never_for_cuda(ask, *major)) return;
    const auto text = cudnn_text(ask.cell.text(Field::cudnn), major ? *major : "");
    ask.question({Field::cudnn, device->field},
                 fmt::format("whether {} has code for {}", text, device->text));
    const auto machine = machine_of(ask);
    const auto rows = for_cell(ask, cudnn_releases(ask), major);
    if (rows.empty() || !machine.is_glibc()) return judge_unread(ask, *device, major, text, machine);
    const auto best = std::max_element(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
        const auto x = code_for(ask, a, *device), y = code_for(ask, b, *device);
        if (x != y) return x < y;
        return lookup::required_version(a, "cudnn") < lookup::required_version(b, "cudnn");
    });
    const auto code = code_for(ask, *best, *device);
    say(ask, *device, *best, code, rows.size() - 1);
    if (code == Code::native && best->id() != rows.back().id() &&
        code_for(ask, rows.back(), *device) == Code::none)
        mention_newest(ask, *device, *best, rows.back());
}

}  // namespace

Rule cudnn_supports_gpu() {
    return {
        .id = "cudnn-supports-gpu",
        .stage = Stage::runtime,
        .summary = "Each library of the cuDNN has code for the GPU.",
        .why =
            "cuDNN is several libraries with kernels of their own. Releases for newer CUDA leave out old GPUs, at "
            "first in all libraries but one, and a GPU that came later has no machine code in them: the first "
            "convolution ends with CUDNN_STATUS_ARCH_MISMATCH, CUDNN_STATUS_EXECUTION_FAILED or \"no kernel image "
            "is available\". From 9.0 on for CUDA 12 or newer, the driver compiles PTX for newer GPUs.",
        .fails = "gpu: V100, cuda: 12.9.1, cudnn: \"9.24\"",
        .passes = "gpu: V100, cuda: 12.9.1, cudnn: 9.10.2",
        .reads = {Field::cudnn, Field::gpu, Field::compute, Field::cuda, Field::arch, Field::os},
        .needs = {{Field::cudnn}, {Field::gpu, Field::compute}},
        .judge = judge_cudnn_supports_gpu};
}

}  // namespace cudamatrix::rules
