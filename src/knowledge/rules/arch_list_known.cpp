// Entries of a TORCH_CUDA_ARCH_LIST that nvcc cannot compile for, or that torch refuses to read.
#include "knowledge/resolve/building.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

using Entries = std::vector<ArchEntry>;
// Whether a row of cuda_toolkits or of torch_extensions has an entry.
using Takes = bool (*)(const Row&, const ArchEntry&);

bool has_target(const Row& toolkit, const ArchEntry& entry) {
    return !entry.arch || contains(toolkit.list("targets"), fatbin::to_text(*entry.arch));
}

bool torch_reads(const Row& extension, const ArchEntry& entry) {
    std::string_view plain = entry.text;
    if (entry.ptx) plain.remove_suffix(4);
    return contains(extension.list("arches"), plain);
}

// Those entries that `row` takes, or those that it refuses.
std::string selected(const Entries& entries, const Row& row, Takes takes, bool taken,
                     std::string_view separator) {
    std::string text;
    for (const auto& entry : entries) {
        if (takes(row, entry) == taken) text.append(text.empty() ? "" : separator).append(entry.text);
    }
    return text;
}

std::string refused_text(const Entries& entries, const Row& row, Takes takes) {
    return selected(entries, row, takes, false, ", ");
}

void judge_toolkit_list(Ask& ask, const ArchList& list, const Entries& entries) {
    ask.question({list.field, Field::cuda}, fmt::format("whether its nvcc compiles for {}", list.text),
                 "toolkit");
    const auto cuda = ask.cuda();
    if (!cuda) return;
    if (!cuda->toolkit) {
        ask.unknown(Field::cuda, "no fact lists the targets of CUDA {}", cuda->exact.text());
        return;
    }
    const auto refused = refused_text(entries, *cuda->toolkit, has_target);
    if (refused.empty()) {
        ask.reword(fmt::format("whether nvcc of CUDA {} has a target for all of {}", cuda->exact.text(),
                               list.named()));
        ask.record_pass({cuda->toolkit->ref()});
        return;
    }
    auto answer =
        ask.reject("nvcc of CUDA {} has no target for {} of {}", cuda->exact.text(), refused, list.named());
    answer.because(cuda->toolkit->ref());
    if (const auto kept = selected(entries, *cuda->toolkit, has_target, true, ";"); !kept.empty())
        answer.fix(with_arch_list(ask, list, kept));
    answer.other(Field::cuda);
}

void judge_torch(Ask& ask, const ArchList& list, const TorchBuild& build, const Row& row) {
    if (!row.has("arches")) return;  // before 1.3 nothing of torch read the list
    ask.question({list.field, Field::torch},
                 fmt::format("whether cpp_extension of {} knows all of {}", build.text, list.named()),
                 "torch");
    const auto entries = arch_entries(list.text, row.list("named"));
    const auto refused = refused_text(entries, row, torch_reads);
    if (refused.empty()) return ask.record_pass({row.ref()});
    auto answer = ask.reject("cpp_extension of {} does not know {} of {}", build.text, refused, list.named());
    answer.because(row.ref());
    if (const auto kept = selected(entries, row, torch_reads, true, ";"); !kept.empty())
        answer.fix(with_arch_list(ask, list, kept));
    answer.accepted_other(Field::torch);
}

// NVIDIA's own torch is taught new GPUs before the release that its sources are on the way to: it knows what
// that release and the one before both know; of anything else nothing can be said.
void judge_own_torch(Ask& ask, const ImageTorch& torch, const ArchList& list) {
    ask.question(torch.about(ask, list.field),
                 fmt::format("whether its cpp_extension knows {}", list.named()), "torch");
    Findings refused;
    auto trial = ask.into(refused, ask.accepted);
    judge_stand_ins(trial, torch, [&](Ask& each, const TorchBuild& build) {
        const auto row = extension_row(each.facts, build.torch.release->text("torch"));
        if (row) judge_torch(each, list, build, *row);
    });
    if (!refused.empty()) unknown_of(ask, torch, "which architectures cpp_extension knows in");
}

// The variable is what a build sees: another list in the field says something that does not happen.
void judge_two_lists(Ask& ask, const ArchList& list) {
    const auto field = ask.cell.text(Field::arch_list);
    if (list.field != Field::env || field.empty() || field == list.text) return;
    ask.question({Field::env, Field::arch_list}, {}, "two");
    ask.degrade(
           "{} in env is not arch_list {}: a build in the image goes by the variable, and by it "
           "everything else is judged",
           list.named(), field)
        .fix(Field::arch_list, list.text)
        .fix(with_arch_list(ask, list, field));
}

void judge_arch_list_known(Ask& ask) {
    const auto list = arch_list(ask);
    if (!list) return;  // env without the variable
    judge_two_lists(ask, *list);
    std::optional<Row> row;
    if (const auto own = wants_torch(ask) ? image_torch(ask) : std::nullopt) {
        judge_own_torch(ask, *own, *list);
    } else if (wants_torch(ask)) {
        const auto torch = torch_build(ask);
        const auto* build = std::get_if<TorchBuild>(&torch);
        if (build != nullptr) row = extension_row(ask.facts, build->torch.release->text("torch"));
        if (row) {
            judge_torch(ask, *list, *build, *row);
        } else {
            ask.question({list->field, Field::torch}, fmt::format("whether it reads {}", list->text),
                         "torch");
            ask.unknown(Field::torch, "no fact lists the architectures that cpp_extension of torch {} knows",
                        ask.cell.text(Field::torch));
        }
    }
    if (!ask.cell.has(Field::cuda)) return;
    judge_toolkit_list(ask, *list, arch_entries(list->text, row ? row->list("named") : facts::Values()));
}

}  // namespace

Rule arch_list_known() {
    return {.id = "arch-list-known",
            .stage = Stage::build,
            .summary = "The toolkit's nvcc and torch's build helper know each entry of arch_list.",
            .why =
                "torch.utils.cpp_extension holds a fixed list of architectures and raises \"Unknown CUDA "
                "arch (12.0) or GPU not supported\" for others, even where nvcc knows them; an entry that "
                "passes it and that nvcc lacks ends in \"Unsupported gpu architecture\".",
            .fails = "arch_list: \"8.9;12.0\", cuda: 12.6.3",
            .passes = "arch_list: \"8.9;12.0\", cuda: 12.8.1, torch: 2.7.1+cu128",
            .reads = {Field::arch_list, Field::env, Field::cuda, Field::torch, Field::arch, Field::image,
                      Field::family, Field::python, Field::os},
            .needs = {{Field::arch_list, Field::env}, {Field::cuda, Field::torch}},
            .judge = judge_arch_list_known};
}

}  // namespace cudamatrix::rules
