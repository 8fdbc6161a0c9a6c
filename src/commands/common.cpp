#include "commands/common.hpp"

#include <algorithm>
#include <chrono>

#include "base/build_info.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "commands/look.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/solve/fixes.hpp"
#include "matrix/matrix_file.hpp"
#include "report/formats.hpp"
#include "run/job/job.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestExcerpt = 1u << 20;

// Ends long judging on an interrupt, and reports progress now and then.
class Watch {
  public:
    explicit Watch(const World& world) : cancellation_(world.cancellation) {}

    bool operator()(const JudgingProgress& progress) {
        const auto now = Clock::now();
        if (now - said_ > kEvery) {
            said_ = now;
            if (progress.all == 0) {
                tell(fmt::format("{} {}\n", progress.done, progress.step));
            } else {
                tell(fmt::format("{} of {} {}\n", progress.done, progress.all, progress.step));
            }
        }
        return !interrupted(cancellation_);
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kEvery{2};

    const Cancellation* cancellation_;
    Clock::time_point said_ = Clock::now();
};

std::string valid_date(const std::string& text) {
    return is_date(text) ? "" : "a date is written YYYY-MM-DD";
}

}  // namespace

void MatrixOptions::add(const Arguments& app) {
    app.add_option("MATRIX", matrix, "The matrix file (YAML)").required();
    add_facts_folder(app, facts);
    add_day(app, on);
    add_override(app, overrides);
    add_look(app, look);
}

void add_look(const Arguments& app, std::string& look) {
    app.add_flag(
           fmt::format("--look{{{}}}", kLook), look,
           "First measure what no fact knows of the packages, images and torch that the file names, over the "
           "network: what they declare, and where it names a GPU the code of such a torch; then ask pip's "
           "resolver whether the packages of each cell go together. --look=deep reads the layers of such "
           "images, too. Kept in ~/.cache/cudamatrix/facts")
        .check([](const std::string& value) {
            return value == kLook || value == kLookDeep ? "" : "expected --look or --look=deep";
        });
}

void add_field(const Arguments& app, const FieldHelp& help, std::string& into) {
    app.add_option("--" + std::string(info(help.field).name), into, std::string(help.text))
        .type_name("VALUE");
}

void add_facts_folder(const Arguments& app, std::string& facts) {
    app.add_option("--facts", facts, "Folder of fact tables laid over the embedded ones").type_name("DIR");
}

void add_limit(const Arguments& app, std::size_t& limit, std::string_view what) {
    app.add_option("--limit", limit, fmt::format("{} at most", what)).between(1, 1000).show_default();
}

void add_day(const Arguments& app, std::string& on) {
    app.add_option("--on", on, "Judge ends of life, ends of waivers and the age of the facts as of this date")
        .type_name("DATE")
        .check(valid_date);
}

void add_report_folder(const Arguments& app, std::string& out) {
    app.add_option("--out", out, "Write the report into this folder as well").type_name("DIR");
}

Status write_report(const std::filesystem::path& folder, std::string_view name, std::string_view format,
                    std::string_view text) {
    CM_TRY(file::make_directories(folder));
    CM_TRY(file::write(folder / fmt::format("{}.{}", name, report::file_ending(format)), text));
    return Done{};
}

Status publish(const std::string& text, std::string_view name, std::string_view format,
               const std::string& out) {
    print(text);
    return out.empty() ? Status(Done{}) : write_report(out, name, format, text);
}

void add_format(const Arguments& app, std::string& format, const std::vector<std::string>& names) {
    format = names.front();
    app.add_option("--format", format, "What stdout carries").one_of(names).show_default();
}

Result<Facts> load_facts(const std::string& overlay, const World& world, const std::string& on) {
    if (overlay.empty()) return Facts::embedded();
    return Facts::with_overlay(overlay, std::max(world.today, on));
}

Result<std::unique_ptr<Loaded>> load(const MatrixOptions& options, const World& world, bool list_cells) {
    CM_TRY_ASSIGN(auto facts, load_facts(options.facts, world, options.on));
    CM_TRY_ASSIGN(auto matrix,
                  read_matrix_file(options.matrix, rules::mistakes_in_ids, lookup::names_in(facts)));
    if (options.says_spellings) {
        for (const auto& note : spelling_notes(matrix))
            tell(note, world);
    }
    auto loaded = std::unique_ptr<Loaded>(new Loaded{std::move(matrix), std::move(facts), {}, {}, {}});
    CM_TRY(change_values(options, world, *loaded));
    CM_TRY_ASSIGN(loaded->lock, read_lock(options.lock.empty() ? job::lock_path(loaded->matrix)
                                                               : std::filesystem::path(options.lock)));
    if (loaded->lock) loaded->facts = with_configurations(loaded->facts, *loaded->lock);
    if (!options.look.empty()) {
        CM_TRY(look(options.facts, world, options.look == kLookDeep, *loaded));
    }
    loaded->today = options.on.empty() ? world.today : options.on;
    JudgeOptions as_of;
    as_of.today = loaded->today;
    as_of.list_cells = list_cells;
    as_of.on_progress = watched(world);
    CM_TRY_ASSIGN(loaded->judgement, judge_whole(loaded->matrix, loaded->facts, as_of));
    warn_of_age(tool_info(loaded->facts, loaded->today), world);
    return loaded;
}

OnProgress watched(const World& world) {
    return Watch(world);
}

std::function<Result<Matrix>(std::string_view)> rereader(const Loaded& loaded) {
    return [&loaded](std::string_view source) -> Result<Matrix> {
        const auto reader = [&](const std::filesystem::path& path,
                                std::uint64_t limit) -> Result<std::string> {
            return path == loaded.matrix.path ? std::string(source) : file::read(path, limit);
        };
        return read_matrix_file(loaded.matrix.path, rules::mistakes_in_ids, lookup::names_in(loaded.facts),
                                reader);
    };
}

Status use_fixes_that_work(Loaded& loaded, const World& world) {
    CM_TRY_ASSIGN(const auto tally, solve::verify_fixes(loaded.matrix, loaded.facts, loaded.today,
                                                        loaded.judgement, watched(world)));
    if (!tally.complete) say_fixes_given_up(world);
    return Done{};
}

void say_fixes_given_up(const World& world) {
    const auto note = Diagnostic::note(
        fmt::format("stopped searching for fixes after {} candidates; some findings may list too few",
                    solve::kMostTriedForFixes));
    tell(note, world);
}

report::ToolInfo tool_info(const Facts& facts, std::string_view today) {
    report::ToolInfo tool{kVersion, facts.date(), facts.hash()};
    // By the middle of all rows, not by the newest: one row looked up yesterday makes the others no younger.
    const auto half = median_date(facts.tables());
    if (is_old(half, today)) {
        tool.facts_warning = fmt::format(
            "facts are {} days old, as of {} or earlier for half of the rows; refresh them or "
            "pass --facts DIR",
            *day_number(today) - *day_number(half), half);
    }
    return tool;
}

void warn_of_age(const report::ToolInfo& tool, const World& world) {
    if (tool.facts_warning.empty()) return;
    tell(Diagnostic::warning(tool.facts_warning), world);
}

report::TextOptions text_options(const World& world) {
    return {.colour = world.colour_out, .width = world.columns, .cut = world.has_columns};
}

std::string current_folder() {
    std::error_code error;
    return std::filesystem::current_path(error).string();
}

report::CheckReport check_report(const Loaded& loaded, const World& world) {
    return {loaded.matrix,
            loaded.judgement,
            tool_info(loaded.facts, loaded.today),
            text_options(world),
            loaded.host ? &*loaded.host : nullptr,
            {},
            current_folder()};
}

ExitCode report_failure(const Failure& failure, const World& world) {
    std::string name, source;
    for (const auto& diagnostic : failure.diagnostics) {
        if (diagnostic.where.file != name) {
            name = diagnostic.where.file;
            source.clear();
            if (diagnostic.where.line != 0) {
                if (auto content = file::read(name, kLargestExcerpt); content.ok())
                    source = std::move(content).value();
            }
        }
        // Text that is not UTF-8 has no columns worth a caret.
        const bool excerpt = !text::invalid_utf8(source).has_value();
        tell(render(diagnostic, excerpt ? source : std::string_view(), world.colour_err));
    }
    return failure.code;
}

void report_warnings(const Loaded& loaded, const World& world) {
    for (const auto& warning : all_warnings(loaded.matrix, loaded.judgement)) {
        tell(render(warning, loaded.matrix.source, world.colour_err));
    }
}

Spelling said_spellings(const Facts& facts, const World& world) {
    return
        [spelling = lookup::spellings(facts), colour = world.colour_err](Field field, std::string_view text) {
            auto meant = spelling(field, text);
            if (!meant.empty()) tell(render(note_of({field, std::string(text), meant, {}}), {}, colour));
            return meant;
        };
}

}  // namespace cudamatrix
