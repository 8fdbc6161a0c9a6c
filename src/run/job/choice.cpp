#include "run/job/choice.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "run/job/job.hpp"
#include "run/job/journal.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::uint64_t kLargestReport = 256u << 20;
constexpr std::size_t kMostNamed = 10;

// What earlier runs said of a cell in its image.
constexpr std::string_view kPassed = "passed", kFailed = "failed", kBuilt = "built",
                           kUnfinished = "unfinished";

// "a, b and 3 more"
std::string some_of(const std::vector<std::string>& names) {
    const auto shown = std::min(names.size(), kMostNamed);
    auto out = text::join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
    if (shown < names.size()) out += fmt::format(" and {} more", names.size() - shown);
    return out;
}

std::vector<std::string> chosen_images(const Plan& plan) {
    std::vector<std::string> ids;
    for (const auto& image : plan.images) {
        if (plan.is_chosen(image)) ids.push_back(image.id);
    }
    return ids;
}

std::string last_of(const Json& cell, bool built_only) {
    const auto outcome = string_or(cell, "outcome");
    if (outcome == to_string(CellOutcome::passed) || outcome == to_string(CellOutcome::passed_without_gpu))
        return std::string(kPassed);
    if (outcome == to_string(CellOutcome::failed) || outcome == to_string(CellOutcome::errored))
        return std::string(kFailed);
    if (outcome == to_string(CellOutcome::skipped)) return string_or(cell, "last");
    const bool is_built = built_only && string_or(cell, "proof") == to_string(Proof::built);
    return std::string(is_built ? kBuilt : kUnfinished);
}

// By the report of the last command in the output folder, and by the journal, which also has what was done
// when that command was killed. What either of them calls failed has failed; what none knows was never
// finished.
class EarlierRuns {
  public:
    /// Nothing where nothing was ever run in `out`.
    static Result<std::optional<EarlierRuns>> read(const std::filesystem::path& out) {
        EarlierRuns runs;
        const auto path = out / "report.json";
        std::error_code error;
        const bool has_report = std::filesystem::exists(path, error);
        if (has_report) {
            CM_TRY_ASSIGN(const auto content, file::read(path, kLargestReport));
            const auto json = parse_json(content, path.string());
            if (!json.ok() || !json->is_object() || !json->contains("cells") || !(*json)["cells"].is_array())
                return input_failure(
                    fmt::format("{} is not a report of cudamatrix", text::printable(path.string())),
                    "remove it");
            const bool built_only = string_or(*json, "command") == "build";
            for (const auto& cell : (*json)["cells"])
                runs.last_[string_or(cell, "id")] = last_of(cell, built_only);
        }
        CM_TRY_ASSIGN(auto journal, Journal::open(out / "journal.jsonl"));
        if (!has_report && journal.is_empty()) return std::optional<EarlierRuns>();
        runs.journal_.emplace(std::move(journal));
        return std::optional<EarlierRuns>(std::move(runs));
    }

    /// Of cell result `id`, whose image is `image`.
    [[nodiscard]] std::string last(std::string_view id, std::string_view image) const {
        for (const auto* kind : {"build", "proof"}) {
            const auto* step = journal_->last_step(kind, image);
            if (step != nullptr && !step->good) return std::string(kFailed);
        }
        const auto found = last_.find(id);
        const auto said = found == last_.end() ? std::string() : found->second;
        const auto* tested = journal_->last(id);
        if (tested == nullptr) return said.empty() ? std::string(kUnfinished) : said;
        if (!report::has_passed(tested->outcome)) return std::string(kFailed);
        return said.empty() ? std::string(kPassed) : said;
    }

  private:
    std::map<std::string, std::string, std::less<>> last_;  ///< by CellResult::id
    std::optional<Journal> journal_;
};

// What was built only is as far as a command that tests nothing gets.
bool is_to_be_repeated(std::string_view last, std::string_view command) {
    const bool tests = command == "test" || command == "run";
    return last == kFailed || last == kUnfinished || (last == kBuilt && tests);
}

std::string words_of(const Choice& choice) {
    std::vector<std::string> words;
    if (!choice.images.empty()) words.push_back("--only " + text::join(choice.images, " "));
    for (const auto& cell : choice.cells)
        words.push_back("--cell " + cell.text());
    if (!choice.where_text.empty()) words.push_back("--where " + choice.where_text);
    if (choice.failed) words.emplace_back("--failed");
    return text::printable(text::join(words, " "));
}

Status check_images(const RunInput& input, const Choice& choice, const Plan& plan) {
    const auto images = chosen_images(plan);
    for (const auto& id : choice.images) {
        if (std::ranges::count(images, id) != 0) continue;
        return input_failure(
            fmt::format("--only {}: {} has no such image", text::printable(id), input.matrix.path),
            text::did_you_mean_or(id, images,
                                  images.empty() ? "none of its cells has an image: cudamatrix check says why"
                                                 : "its images: " + some_of(images)));
    }
    return Done{};
}

bool is_meant(const Choice& choice, const JudgedCell& judged, const CellResult& result) {
    return (choice.images.empty() || std::ranges::count(choice.images, result.image) != 0) &&
           choice.means(judged.id, judged.cell);
}

Failure nothing_chosen(const RunInput& input, const RunSettings& settings, const Plan& plan) {
    const auto images = chosen_images(plan);
    const auto what = settings.choice.failed
                          ? fmt::format("of {} nothing that it leaves failed or is unfinished in {}",
                                        input.matrix.path, text::printable(settings.out.string()))
                          : fmt::format("{} has no such cell", input.matrix.path);
    return Failure{
        ExitCode::bad_input,
        {Diagnostic::error(fmt::format("{}: {}", words_of(settings.choice), what))
             .with_note(fmt::format("it has {} and {}{}", text::count(input.judgement.cells.size(), "cell"),
                                    text::count(images.size(), "image"),
                                    images.empty() ? "" : ": " + some_of(images)))
             .with_fix(fmt::format("cudamatrix list {} shows the cells", input.matrix.path))}};
}

Status leave_out(const RunInput& input, const RunSettings& settings, Plan& plan) {
    const auto& choice = settings.choice;
    CM_TRY(check_images(input, choice, plan));
    CM_TRY(check_cells(input, choice));
    std::optional<EarlierRuns> earlier;
    auto read = EarlierRuns::read(settings.out);
    if (read.ok() && *read) earlier.emplace(std::move(**read));
    if (!read.ok() && choice.failed) return std::move(read).failure();
    if (choice.failed && !earlier) {
        return input_failure(
            fmt::format("--failed: there is no earlier run in {}", text::printable(settings.out.string())),
            "leave --failed out, or name the folder of that run with --out");
    }
    std::set<std::string_view> failed;  // images
    for (auto& cell : plan.report.cells) {
        if (earlier && !cell.image.empty()) cell.last = earlier->last(cell.id, cell.image);
        if (is_to_be_repeated(cell.last, plan.report.command)) failed.insert(cell.image);
    }
    std::set<std::string_view> chosen;
    bool any = false;
    for (auto& cell : plan.report.cells) {
        cell.chosen = is_meant(choice, *plan.judged.find(cell.cell)->second, cell) &&
                      (!choice.failed || failed.contains(cell.image));
        any = any || cell.chosen;
        if (cell.chosen) {
            cell.last.clear();
            chosen.insert(cell.image);
        } else {
            cell.outcome = CellOutcome::skipped;
            cell.reason = "not chosen";
        }
    }
    if (!any) return nothing_chosen(input, settings, plan);
    for (const auto& image : plan.images) {
        if (!chosen.contains(image.id)) plan.left_out.insert(image.id);
    }
    return Done{};
}

}  // namespace

Status check_cells(const RunInput& input, const Choice& choice) {
    std::vector<std::string> cells;
    for (const auto& judged : input.judgement.cells)
        cells.push_back(judged.id);
    for (const auto& pattern : choice.cells) {
        const bool means_one = std::ranges::any_of(input.judgement.cells, [&](const JudgedCell& judged) {
            return pattern.means(judged.id, judged.cell);
        });
        if (means_one) continue;
        return input_failure(
            fmt::format("--cell {}: {} has no such cell", text::printable(pattern.text()), input.matrix.path),
            text::did_you_mean_or(pattern.text(), cells, "its cells: " + some_of(cells)));
    }
    return Done{};
}

bool Plan::is_chosen(const Image& image) const {
    return !left_out.contains(image.id);
}

std::size_t Plan::chosen_images() const {
    return images.size() - left_out.size();
}

Status narrow(const RunInput& input, const RunSettings& settings, Plan& plan) {
    if (settings.choice.narrows()) {
        CM_TRY(leave_out(input, settings, plan));
    }
    const auto most = settings.choice.most_images;
    if (most == 0 || plan.chosen_images() <= most) return Done{};
    const auto images = chosen_images(plan);
    return Failure{
        ExitCode::bad_input,
        {Diagnostic::error(fmt::format("--max-images {}: {} has {} images to attempt: {}", most,
                                       input.matrix.path, images.size(), some_of(images)))
             .with_fix("choose with --only IMAGE..., --cell CELL, --where FIELD=VALUE or --failed, or "
                       "allow more")}};
}

}  // namespace cudamatrix::job

namespace cudamatrix {

bool Choice::means(const std::string& cell_id, const Cell& cell) const {
    const auto is_named = [&](const CellPattern& pattern) { return pattern.means(cell_id, cell); };
    return (cells.empty() || std::ranges::any_of(cells, is_named)) &&
           (where_text.empty() || matches(where, cell));
}

}  // namespace cudamatrix
