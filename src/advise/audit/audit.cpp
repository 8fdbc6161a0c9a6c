#include "advise/audit/audit.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "advise/audit/parts.hpp"
#include "base/text.hpp"
#include "knowledge/solve/variable.hpp"

namespace cudamatrix::audit {
namespace {

// The stages that decide: what is not compiled need not compile.
std::vector<std::string> deciding(bool compiles) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < kStageCount; ++i) {
        const auto stage = static_cast<Stage>(i);
        if (stage == Stage::torch_compile || (stage == Stage::build && !compiles)) continue;
        out.emplace_back(to_string(stage));
    }
    return out;
}

Matrix matrix_of(std::vector<std::pair<Field, Value>> values, const Holds& holds,
                 const sources::Source& source, const std::string& name) {
    Matrix out;
    out.path = source.path;
    out.source = source.text;
    out.name = name;
    for (const auto& [field, value] : values)
        out.named.insert(field);
    out.set = std::move(values);
    out.waivers = holds.settled;
    out.stages = deciding(holds.compiles);
    return out;
}

bool says_anything(const Holds& holds, const Options& options) {
    const auto is_given = [&](Field field) {
        return std::ranges::any_of(options.machine, [&](const auto& one) { return one.first == field; });
    };
    return std::ranges::any_of(holds.values, [&](const auto& one) { return !is_given(one.first); });
}

// Named at `where`.
Stack stack_of_image(const std::string& reference, const Facts& facts, const Options& options,
                     const Location& where) {
    sources::Source source;
    source.path = reference;
    source.kind = sources::Kind::compose;
    sources::Stage stage;
    stage.base = {reference, where, false};
    source.stages.push_back(std::move(stage));
    std::vector<sources::Source> files;
    std::set<std::string> followed;
    const ReadFile nothing = [](const std::filesystem::path&) -> std::optional<std::string> { return {}; };
    const FoldContext context{facts, options, source, {}, nothing, files, followed, nullptr};
    auto holds = fold(context, 0);
    return {reference, {}, matrix_of(std::move(holds.values), holds, source, reference), {}, {}};
}

class Auditor {
  public:
    Auditor(const Facts& facts, const Options& options, const ReadFile& read, Report& out)
        : facts_(facts), options_(options), read_(read), out_(out) {}

    void add(const Input& input, std::optional<sources::Kind> kind) {
        if (followed_.contains(input.path)) return;
        if (!kind) {
            out_.skipped.push_back(
                {{input.path, 0, 0, 1},
                 "the file",
                 "neither a Dockerfile, a compose file, requirements, a lock file nor an environment"});
            return;
        }
        add_source(*kind, input.path, input.text, options_.arguments, options_.target, nullptr);
    }

    // Once all builds are known.
    void finish() {
        for (auto& [place, skipped] : unbuilt_) {
            if (!built_.contains(place)) out_.skipped.push_back(std::move(skipped));
        }
    }

  private:
    void add_source(sources::Kind kind, const std::string& path, const std::string& text,
                    const std::map<std::string, std::string>& arguments, const std::string& target,
                    const std::vector<sources::Step>* more) {
        sources::ReadOptions read;
        read.arguments = arguments;
        for (const auto& [field, value] : options_.machine) {
            if (field == Field::arch) read.arch = value.text;
        }
        const auto source = sources::read(kind, path, text, read);
        out_.skipped.insert(out_.skipped.end(), source.skipped.begin(), source.skipped.end());
        if (kind == sources::Kind::dockerfile) find_unused_stages(source, facts_, out_.findings);
        const auto built = built_stages(source, target);
        for (const auto index : leaves(source, built)) {
            const FoldContext context{
                facts_, options_,   source,    std::filesystem::path(path).parent_path().generic_string(),
                read_,  out_.files, followed_, more};
            add_stack(fold(context, index), source, stack_name(source, index));
        }
        for (const auto& build : source.builds)
            add_build(build, source);
        add_copied_images(source, built);
        if (std::ranges::none_of(out_.files,
                                 [&](const sources::Source& known) { return known.path == path; }))
            out_.files.push_back(source);
    }

    // Images that COPY --from and mounts name have to be there, as those of FROM; nothing of them runs.
    void add_copied_images(const sources::Source& source, const std::vector<bool>& built) {
        Options alone;  // on no machine
        alone.today = options_.today;
        std::set<std::string> seen;
        for (std::size_t i = 0; i < source.stages.size(); ++i) {
            for (const auto& step : source.stages[i].steps) {
                const auto* copy = std::get_if<sources::CopyFrom>(&step);
                if (copy == nullptr || !built[i] || is_open(copy->stage) ||
                    stage_named(source, copy->stage, i) ||
                    copy->stage.find_first_of(":/") == std::string::npos || !seen.insert(copy->stage).second)
                    continue;
                auto stack = stack_of_image(copy->stage, facts_, alone, copy->where);
                stack.file = source.path;
                stack.name = fmt::format("{}: copied from {}", source.path, text::printable(copy->stage));
                stack.matrix.path = source.path;
                stack.matrix.source = source.text;
                stack.is_source = true;
                stack.matrix.stages = {std::string(to_string(Stage::image_pull))};
                out_.stacks.push_back(std::move(stack));
            }
        }
    }

    // For each stage whether it is made; none where no stage is the target. Of other files all are.
    [[nodiscard]] std::vector<bool> built_stages(const sources::Source& source, const std::string& target) {
        const auto count = source.stages.size();
        if (source.kind != sources::Kind::dockerfile || count == 0) return std::vector<bool>(count, true);
        const auto last =
            target.empty() ? std::optional(count - 1) : stage_named(source, text::lower(target), count);
        if (!last) {
            out_.skipped.push_back(
                {{source.path, 0, 0, 1}, "target " + text::printable(target), "no stage has that name"});
            return std::vector<bool>(count, false);
        }
        auto built = built_with(source, *last);
        note_unbuilt(source, built, *last);
        return built;
    }

    // Those that are images of their own: no other stage that is built stands on them.
    [[nodiscard]] static std::vector<std::size_t> leaves(const sources::Source& source,
                                                         const std::vector<bool>& built) {
        const auto& stages = source.stages;
        std::vector<std::size_t> out;
        for (std::size_t i = 0; i < stages.size(); ++i) {
            bool is_base = false;
            for (std::size_t j = i + 1; j < stages.size(); ++j)
                is_base = is_base || (built[j] && stages[j].on == i);
            if (built[i] && !is_base) out.push_back(i);
        }
        return out;
    }

    // One build may leave out what another one makes: of a compose file each service has its target.
    void note_unbuilt(const sources::Source& source, const std::vector<bool>& built, std::size_t last) {
        for (std::size_t i = 0; i < source.stages.size(); ++i) {
            const auto& stage = source.stages[i];
            const std::tuple place(source.path, i);
            if (built[i]) {
                built_.insert(place);
                continue;
            }
            unbuilt_.try_emplace(
                place, sources::Skipped{stage.where, "stage " + shown_name(source, i),
                                        fmt::format("nothing of stage {} stands on it; --target builds it",
                                                    shown_name(source, last))});
        }
    }

    static std::string shown_name(const sources::Source& source, std::size_t index) {
        const auto& name = source.stages[index].name;
        return name.empty() ? std::to_string(index) : text::printable(name);
    }

    static std::string stack_name(const sources::Source& source, std::size_t index) {
        const auto& stage = source.stages[index];
        if (source.stages.size() == 1 && source.kind != sources::Kind::compose) return source.path;
        return fmt::format("{}: {}{}", source.path, stage.name.empty() ? "stage " : "",
                           shown_name(source, index));
    }

    void add_build(const sources::Build& build, const sources::Source& compose) {
        const auto folder = std::filesystem::path(compose.path).parent_path();
        const auto path = (folder / build.context / build.dockerfile).lexically_normal();
        if (is_open(build.context) || is_open(build.dockerfile)) {
            out_.skipped.push_back({build.where, "build", "a variable in it has no value here"});
            return;
        }
        const auto text = read_(path);
        if (!text) {
            out_.skipped.push_back(
                {build.where, text::printable(path.generic_string()), "the file is not here"});
            return;
        }
        auto arguments = build.arguments;
        arguments.insert(options_.arguments.begin(), options_.arguments.end());
        followed_.insert(path.generic_string());
        add_source(sources::Kind::dockerfile, path.generic_string(), *text, arguments, build.target,
                   &build.steps);
    }

    void add_stack(Holds holds, const sources::Source& source, const std::string& name) {
        const auto is_new = [&](const Finding& finding) {
            return std::ranges::none_of(out_.findings, [&](const Finding& known) {
                return known.id == finding.id && known.where == finding.where;
            });
        };
        for (auto& finding : holds.findings) {
            if (is_new(finding)) out_.findings.push_back(std::move(finding));
        }
        for (auto& skipped : holds.skipped) {
            if (said_.emplace(skipped.where.file, skipped.where.line, skipped.where.column, skipped.what)
                    .second)
                out_.skipped.push_back(std::move(skipped));
        }
        const bool says = says_anything(holds, options_);
        if (!says) holds.values.clear();
        out_.stacks.push_back({name, source.path, matrix_of(std::move(holds.values), holds, source, name),
                               std::move(holds.notes), std::move(holds.places)});
        if (!holds.of_nvcc.empty()) {
            out_.stacks.push_back({name + ", nvcc",
                                   source.path,
                                   matrix_of(std::move(holds.of_nvcc), holds, source, name),
                                   {},
                                   {}});
        }
    }

    const Facts& facts_;
    const Options& options_;
    const ReadFile& read_;
    Report& out_;
    std::set<std::string> followed_;
    std::set<std::tuple<std::string, std::size_t>> built_;  // stages, by file and number
    std::map<std::tuple<std::string, std::size_t>, sources::Skipped> unbuilt_;
    std::set<std::tuple<std::string, std::size_t, std::size_t, std::string>> said_;  // of what was skipped
};

}  // namespace

Report read_stacks(const std::vector<Input>& inputs, const Facts& facts, const Options& options,
                   const ReadFile& read) {
    Report out;
    Auditor auditor(facts, options, read, out);
    // What others name is read with them: Dockerfiles and compose files come first.
    std::vector<std::pair<std::optional<sources::Kind>, const Input*>> order;
    for (const auto& input : inputs)
        order.emplace_back(sources::kind_of(input.path, input.text), &input);
    const auto rank = [](const auto& one) {
        return one.first == sources::Kind::compose ? 0 : one.first == sources::Kind::dockerfile ? 1 : 2;
    };
    std::ranges::stable_sort(order, {}, rank);
    for (const auto& [kind, input] : order)
        auditor.add(*input, kind);
    auditor.finish();
    std::ranges::sort(out.files, {}, &sources::Source::path);
    const auto by_place = [](const auto& one) {
        return std::tuple(one.where.file, one.where.line, one.where.column);
    };
    std::ranges::stable_sort(out.findings, {}, by_place);
    std::ranges::stable_sort(out.skipped, {}, by_place);
    return out;
}

Stack stack_of_image(const std::string& reference, const Facts& facts, const Options& options) {
    auto wanted = options;
    wanted.all_packages = true;
    return stack_of_image(reference, facts, wanted, {reference, 0, 0, 1});
}

Result<std::vector<std::filesystem::path>> files_below(const std::filesystem::path& folder) {
    static const std::set<std::string, std::less<>> kLeftOut{"node_modules", "__pycache__", "site-packages",
                                                             "venv"};
    std::vector<std::filesystem::path> out;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator
             it(folder, std::filesystem::directory_options::skip_permission_denied, error),
         end;
         !error && it != end; it.increment(error)) {
        const auto name = it->path().filename().string();
        const bool is_folder = it->is_directory(error) && !error;
        if (is_folder && (name.starts_with(".") || kLeftOut.contains(name))) it.disable_recursion_pending();
        if (!is_folder && it->is_regular_file(error) && !it->is_symlink(error) &&
            sources::kind_by_name(it->path().generic_string()))
            out.push_back(it->path());
    }
    if (error)
        return environment_failure(
            fmt::format("cannot read {}: {}", text::printable(folder.string()), error.message()));
    std::ranges::sort(out);
    return out;
}

bool Stack::compiles() const {
    return std::ranges::find(matrix.stages, to_string(Stage::build)) != matrix.stages.end();
}

std::string stages_line(bool compiles) {
    if (compiles) return {};
    return fmt::format("stages: [{}]  # nothing is compiled\n", text::join(deciding(false), ", "));
}

std::string matrix_text(const std::vector<const Stack*>& stacks, std::string_view name) {
    std::string out = fmt::format("version: 1\nname: {}\n", name);
    out += stages_line(std::ranges::any_of(stacks, [](const Stack* stack) { return stack->compiles(); }));
    out += "include:\n";
    for (const auto* stack : stacks) {
        for_each_cell(stack->matrix, [&](const Cell& cell) {
            out += fmt::format("  # {}\n  - {}\n", text::printable(stack->name), solve::row_text(cell));
            return true;
        });
    }
    return out;
}

}  // namespace cudamatrix::audit
