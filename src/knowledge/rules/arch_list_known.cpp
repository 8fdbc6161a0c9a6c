// Entries of a TORCH_CUDA_ARCH_LIST that nvcc cannot compile for, or that torch refuses to read.
#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::build;

// The list without the entries that `refused` names; empty where nothing stays.
std::string without(const std::vector<ArchEntry>& entries,
                    const std::function<bool(const ArchEntry&)>& refused) {
    std::string kept;
    for (const auto& entry : entries) {
        if (!refused(entry)) kept += (kept.empty() ? "" : ";") + entry.text;
    }
    return kept;
}

std::string refused_text(const std::vector<ArchEntry>& entries,
                         const std::function<bool(const ArchEntry&)>& refused) {
    std::string text;
    for (const auto& entry : entries) {
        if (refused(entry)) text += (text.empty() ? "" : ", ") + entry.text;
    }
    return text;
}

bool has_target(const Row& toolkit, const ArchEntry& entry) {
    return contains(toolkit.list("targets"), fatbin::to_text(*entry.arch));
}

bool torch_reads(const Row& row, const ArchEntry& entry) {
    std::string_view plain = entry.text;
    if (entry.ptx) plain.remove_suffix(4);
    return contains(row.list("arches"), plain);
}

void judge_toolkit(const Context& context, const ArchList& list, const std::vector<ArchEntry>& entries,
                   Findings& out) {
    const auto resolved = image_cuda(context);
    const auto* cuda = std::get_if<lookup::Cuda>(&resolved);
    if (cuda == nullptr || !cuda->toolkit) {
        const auto gap =
            cuda == nullptr
                ? std::get<Unresolved>(resolved)
                : Unresolved{Field::cuda,
                             fmt::format("no fact lists the targets of CUDA {}", cuda->exact.text()),
                             {}};
        out.push_back(unknown(kStage, "toolkit", {list.field, Field::cuda}, gap,
                              fmt::format("whether its nvcc compiles for {}", list.text)));
        return;
    }
    const auto refused = [&](const ArchEntry& entry) {
        return entry.arch && !has_target(*cuda->toolkit, entry);
    };
    const auto text = refused_text(entries, refused);
    if (text.empty()) {
        return passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              {list.field, Field::cuda},
                              fmt::format("whether nvcc of CUDA {} has a target for all of {}",
                                          cuda->exact.text(), list.named()),
                              {cuda->toolkit->ref()}};
        });
    }
    auto error = finding(
        Severity::error, kStage, "toolkit", {list.field, Field::cuda},
        fmt::format("nvcc of CUDA {} has no target for {} of {}", cuda->exact.text(), text, list.named()),
        {cuda->toolkit->ref()});
    if (const auto kept = without(entries, refused); !kept.empty())
        error.fixes.push_back(with_arch_list(context, list, kept));
    for (auto& option : cuda_options(context, cuda->exact, [&](const Version& other) {
             const auto toolkit = context.facts.row(fmt::format("cuda-toolkit-{}", other.major_minor()));
             return toolkit && refused_text(entries, [&](const ArchEntry& entry) {
                                   return entry.arch && !has_target(*toolkit, entry);
                               }).empty();
         })) {
        error.fixes.push_back(std::move(option));
    }
    out.push_back(std::move(error));
}

void judge_torch(const Context& context, const ArchList& list, const TorchBuild& build, const Row& row,
                 const std::vector<ArchEntry>& entries, Findings& out) {
    if (!row.has("arches")) return;  // before 1.3 nothing of torch read the list
    const auto refused = [&](const ArchEntry& entry) { return !torch_reads(row, entry); };
    const auto text = refused_text(entries, refused);
    if (text.empty()) {
        return passed(context, [&] {
            return Acceptance{
                {},
                kStage,
                {list.field, Field::torch},
                fmt::format("whether cpp_extension of {} knows all of {}", build.text, list.named()),
                {row.ref()}};
        });
    }
    auto error =
        finding(Severity::error, kStage, "torch", {list.field, Field::torch},
                fmt::format("cpp_extension of {} does not know {} of {}", build.text, text, list.named()),
                {row.ref()});
    if (const auto kept = without(entries, refused); !kept.empty())
        error.fixes.push_back(with_arch_list(context, list, kept));
    for (auto& option : torch_options(context, [&](const Row& wheel) {
             const auto other = extension_row(context.facts, wheel.text("torch"));
             if (!other) return false;
             const auto again = arch_entries(list.text, other->list("named"));
             return refused_text(again, [&](const ArchEntry& entry) { return !torch_reads(*other, entry); })
                 .empty();
         })) {
        error.fixes.push_back(std::move(option));
    }
    out.push_back(std::move(error));
}

// NVIDIA's own torch is taught new GPUs before the release that its sources are on the way to: what that
// release knows as well as the one before is known to it, of anything else nothing can be said.
void judge_own_torch(const Context& context, const ImageTorch& torch, const ArchList& list, Findings& out) {
    const auto question = fmt::format("whether its cpp_extension knows {}", list.named());
    const auto judge_one = [&](const Context& other, const TorchBuild& build, Findings& found) {
        const auto row = extension_row(other.facts, build.torch.release->text("torch"));
        if (row) judge_torch(other, list, build, *row, arch_entries(list.text, row->list("named")), found);
    };
    Findings found;
    judge_image_torch(context, torch, kStage, list.field, question, judge_one, found);
    if (!found.empty())
        out.push_back(unknown_of(context, torch, kStage, "torch", list.field,
                                 "which architectures cpp_extension knows in", question));
}

// The variable is what a build sees: the field beside it says something that does not happen.
void judge_two_lists(const Context& context, const ArchList& list, Findings& out) {
    const auto field = context.cell.text(Field::arch_list);
    if (list.field != Field::env || field.empty() || field == list.text) return;
    auto warning =
        finding(Severity::warning, kStage, "two", {Field::env, Field::arch_list},
                fmt::format("{} in env is not arch_list {}: a build in the image goes by the variable, "
                            "and by it everything else is judged",
                            list.named(), field),
                {});
    warning.fixes.push_back(set_to(Field::arch_list, list.text));
    warning.fixes.push_back(with_arch_list(context, list, field));
    out.push_back(std::move(warning));
}

void judge(const Context& context, Findings& out) {
    const auto given = arch_list(context);
    if (!given) return;  // env without the variable
    const auto& list = given->text;
    judge_two_lists(context, *given, out);
    std::optional<Row> row;
    std::optional<TorchBuild> build;
    const auto own = wants_torch(context) ? image_torch(context) : std::nullopt;
    if (own) judge_own_torch(context, *own, *given, out);
    if (wants_torch(context) && !own) {
        const auto torch = torch_build(context);
        if (const auto* known = std::get_if<TorchBuild>(&torch)) {
            build = *known;
            row = extension_row(context.facts, known->torch.release->text("torch"));
        }
        if (!row) {
            const Unresolved gap{
                Field::torch,
                fmt::format("no fact lists the architectures that cpp_extension of torch {} knows",
                            context.cell.text(Field::torch)),
                {}};
            out.push_back(unknown(kStage, "torch", {given->field, Field::torch}, gap,
                                  fmt::format("whether it reads {}", list)));
        }
    }
    const auto entries = row ? arch_entries(list, row->list("named")) : arch_entries(list, {});
    if (row) judge_torch(context, *given, *build, *row, entries, out);
    if (context.cell.has(Field::cuda)) judge_toolkit(context, *given, entries, out);
}

}  // namespace

Rule arch_list_known() {
    return {.id = "arch-list-known",
            .stage = kStage,
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
