// upgrade: moves the values of a matrix file on, in place or as a patch, after it said what that does to the
// cells.
#include <set>
#include <utility>

#include "advise/upgrade/found_way.hpp"
#include "advise/upgrade/newer_values.hpp"
#include "advise/upgrade/outcome.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "matrix/matrix_file.hpp"
#include "matrix/spelling.hpp"
#include "matrix/value.hpp"
#include "matrix/yaml.hpp"
#include "report/formats.hpp"
#include "report/json_members.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kTo =
    "hold (the newest of each line: driver branch, CUDA minor, torch minor), next, ambitious, or values such as "
    "cuda=12.8.1,torch=2.8.0+cu128";

struct UpgradeOptions {
    MatrixOptions matrix;
    std::string to;
    bool write = false;
    bool lose = false;
    std::string apply;
    std::string format;
    std::string out;
    bool verbose = false;
};

std::optional<upgrade::Aim> aim_named(std::string_view word) {
    for (const auto aim : upgrade::kAims) {
        if (word == upgrade::to_string(aim)) return aim;
    }
    return std::nullopt;
}

// "cuda=12.8.1,torch=2.8.0+cu128" in words of a matrix file.
Result<upgrade::Wanted> wanted_values(const std::string& text, const Loaded& loaded,
                                      const Spelling& spelling) {
    upgrade::Wanted out;
    std::set<Field> seen;
    for (const auto& part : text::split(text, ',')) {
        const auto equals = part.find('=');
        const auto field = equals == std::string::npos
                               ? std::nullopt
                               : field_named(text::trim(std::string_view(part).substr(0, equals)));
        const auto label = fmt::format("--to {}", text::printable(part));
        if (!field)
            return input_failure(fmt::format("{}: expected an aim or FIELD=VALUE", label),
                                 fmt::format("write {}", kTo));
        if (!upgrade::moves(*field))
            return input_failure(fmt::format("{}: {} does not move", label, info(*field).name),
                                 "name a torch, image, cuda, driver, python or os");
        const auto written = text::trim(std::string_view(part).substr(equals + 1));
        const auto meant = spelling(*field, written);
        const auto value = value_from_text(*field, meant.empty() ? written : std::string_view(meant));
        if (const auto* problem = std::get_if<ValueProblem>(&value))
            return input_failure(fmt::format("{}: {}", label, problem->message), problem->fix);
        if (!seen.insert(*field).second)
            return input_failure(fmt::format("{}: {} is named twice", label, info(*field).name),
                                 "keep one of the two");
        const auto& named = std::get<Value>(value).text;
        const auto released = upgrade::life_of(loaded.facts, *field, named).released;
        if (released > loaded.today.substr(0, released.size()))
            return input_failure(
                fmt::format("{}: it came out on {}, after {}", label, released, loaded.today),
                "name a value that was out then, or a later --on");
        out.emplace_back(*field, named);
    }
    return out;
}

Result<upgrade::Outcome> find(const UpgradeOptions& options, const Loaded& loaded, const World& world) {
    const auto aim = aim_named(options.to);
    upgrade::Wanted wanted;
    if (!aim) {
        CM_TRY_ASSIGN(wanted, wanted_values(options.to, loaded, said_spellings(loaded.facts, world)));
    }
    upgrade::Fleet fleet(loaded.matrix, loaded.judgement, loaded.facts, loaded.today, std::move(wanted),
                         watched(world));
    CM_TRY_ASSIGN(const auto plan, upgrade::plan_for(fleet, aim.value_or(upgrade::Aim::wanted)));
    if (fleet.is_stopped()) return rules::interrupted();
    return upgrade::carried_out(fleet, plan, rereader(loaded), watched(world));
}

// A way of a review of this very file.
Result<upgrade::Outcome> recorded(const UpgradeOptions& options, const Loaded& loaded, const World& world) {
    CM_TRY_ASSIGN(const auto text, file::read(options.apply, report::kLargestDocument));
    CM_TRY_ASSIGN(auto review, report::read_review_json(text, options.apply));
    const auto name = text::printable(options.apply);
    if (review.sha256 != sha256(loaded.matrix.source))
        return input_failure(fmt::format("{} reviewed another text than {} has now", name,
                                         text::printable(loaded.matrix.path)),
                             "review the file again");
    const auto aim = aim_named(options.to);
    for (auto& way : review.ways) {
        if (way.aim != aim) continue;
        return upgrade::applied(loaded.matrix, loaded.judgement, loaded.facts, loaded.today, std::move(way),
                                rereader(loaded), watched(world));
    }
    return input_failure(fmt::format("{} has no edited file for --to {}", name, text::printable(options.to)),
                         "name hold, next or ambitious, one of those whose edit it shows");
}

Status write_source(const std::string& path, const std::string& source) {
    CM_TRY_ASSIGN(const auto raw, file::read(path, yaml::Limits{}.bytes));
    CM_TRY(file::write(path, yaml::in_the_manner_of(raw, source)));
    return Done{};
}

Result<ExitCode> perform_upgrade(const UpgradeOptions& options, const World& world) {
    CM_TRY_ASSIGN(const auto loaded, load(options.matrix, world));
    CM_TRY_ASSIGN(const auto outcome,
                  options.apply.empty() ? find(options, *loaded, world) : recorded(options, *loaded, world));
    const bool is_refused = !outcome.lost.empty() && !options.lose;
    const bool changes = !outcome.steps.empty() && !outcome.source.empty();
    const bool written = options.write && changes && !is_refused;
    report::UpgradeReport report{loaded->matrix, outcome, written, tool_info(loaded->facts, loaded->today),
                                 text_options(world)};
    report.text.verbose = options.verbose;
    if (written) CM_TRY(write_source(loaded->matrix.path, outcome.source));
    CM_TRY(publish(report, "upgrade", options.format, options.out,
                   report::format_named(report::upgrade_formats(), options.format)->write));
    if (is_refused && options.write) {
        return input_failure(
            fmt::format("{} is not written: {} of keep would be lost", text::printable(loaded->matrix.path),
                        text::count(outcome.lost.size(), "cell")),
            "delete the entries of keep, or say --lose");
    }
    return written || outcome.steps.empty() ? ExitCode::success : ExitCode::findings;
}

}  // namespace

Action add_upgrade(const Arguments& app) {
    auto options = std::make_shared<UpgradeOptions>();
    app.add_option("MATRIX", options->matrix.matrix, "Matrix file").required();
    app.add_option("--to", options->to, "Where to: " + std::string(kTo)).type_name("AIM").required();
    app.add_option("--apply", options->apply,
                   "Take the edit of that aim from this review (review --format json) of the file as it is")
        .type_name("FILE");
    app.add_flag("--write", options->write, "Edit the file in place; without it the patch is printed");
    app.add_flag("--lose", options->lose, "Write even where a cell that keep: names is lost");
    add_facts_folder(app, options->matrix.facts);
    add_day(app, options->matrix.on);
    app.add_flag("-v,--verbose", options->verbose, "List every line, not 40 of a kind");
    add_format(app, options->format, report::names_of(report::upgrade_formats()));
    add_report_folder(app, options->out);
    return [options](const World& world) { return perform_upgrade(*options, world); };
}

}  // namespace cudamatrix
