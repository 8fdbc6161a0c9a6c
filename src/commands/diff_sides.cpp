#include "commands/diff_sides.hpp"

#include <array>
#include <filesystem>

#include "base/file.hpp"
#include "base/git.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "matrix/matrix_file.hpp"
#include "report/run_document.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestFile = 256u << 20;
constexpr std::string_view kExpected =
    "a matrix file, a cudamatrix.lock, the JSON report of a run, a folder of facts, or REV:PATH of one of "
    "them";

// Where a side stands: in the file system, or in a commit.
class Place {
  public:
    Place(const std::string& name, const World& world)
        : world_(world), git_({}, world.environment, world.cancellation), path_(name) {
        std::error_code error;
        const auto colon = name.find(':');
        if (fs::exists(name, error) || colon == std::string::npos || colon == 0) return;
        revision_ = name.substr(0, colon);
        path_ = name.substr(colon + 1);
    }

    // Whether it is a folder; an input failure where there is nothing.
    Result<bool> is_folder() const {
        std::error_code error;
        if (revision_.empty()) {
            if (fs::exists(path_, error)) return fs::is_directory(path_, error);
            return input_failure(fmt::format("no such file or folder: {}", text::printable(path_)),
                                 fmt::format("name {}", kExpected));
        }
        if (revision_.front() == '-') return no_revision("a revision does not begin with -");
        const auto kind = git_.ask({"cat-file", "-t", in_commit(path_)});
        if (!kind.ok() || !kind->success()) return no_revision(why_git_failed(kind));
        return text::trim(kind->out) == "tree";
    }

    // Reads what is named like the side's own files: REV: stands before names that it wrote itself.
    [[nodiscard]] file::Reader reader() const {
        if (revision_.empty()) return file::read;
        return [this](const fs::path& path, std::uint64_t limit) -> Result<std::string> {
            auto name = path.string();
            const auto prefix = revision_ + ":";
            if (name.starts_with(prefix)) name.erase(0, prefix.size());
            const auto answer = git_.ask({"cat-file", "blob", in_commit(name)}, limit);
            if (!answer.ok()) return answer.failure();
            if (answer->success()) return answer->out;
            return input_failure(
                fmt::format("{}: {}", text::printable(in_commit(name)), why_git_failed(answer)), {});
        };
    }

    // A file beside this one that there may be.
    [[nodiscard]] Result<std::optional<std::string>> beside(std::string_view name) const {
        const auto path = (fs::path(path_).parent_path() / name).string();
        std::error_code error;
        if (revision_.empty()) {
            if (!fs::exists(path, error)) return std::optional<std::string>();
        } else {
            const auto kind = git_.ask({"cat-file", "-e", in_commit(path)});
            if (kind.ok() && !kind->success()) return std::optional<std::string>();
        }
        CM_TRY_ASSIGN(auto content, reader()(path, kLargestFile));
        return std::optional(std::move(content));
    }

    // The folder itself, or a copy of the tables in the commit.
    Result<std::string> tables() {
        if (revision_.empty()) return path_;
        CM_TRY_ASSIGN(copy_, file::TemporaryFolder::make(value_of(world_.environment, {"TMPDIR"}), "facts"));
        const auto listed = git_.ask({"ls-tree", "--full-tree", "--name-only", "-z", in_commit(path_)});
        if (!listed.ok() || !listed->success()) return no_revision(why_git_failed(listed));
        for (const auto& name : text::split(listed->out, '\0')) {
            const fs::path file(name);
            if (file.extension() != ".yaml" || file != file.filename()) continue;
            CM_TRY_ASSIGN(const auto content, reader()(fs::path(path_) / file, kLargestFile));
            CM_TRY(file::create(fs::path(copy_->path()) / file, content));
        }
        return copy_->path();
    }

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    [[nodiscard]] std::string in_commit(const std::string& path) const { return revision_ + ":" + path; }

    [[nodiscard]] Failure no_revision(const std::string& why) const {
        return input_failure(fmt::format("{}: neither a file nor a path of a commit: {}",
                                         text::printable(in_commit(path_)), why),
                             fmt::format("name {}; REV:./PATH is below this folder", kExpected));
    }

    const World& world_;
    Git git_;
    std::string revision_, path_;
    std::unique_ptr<file::TemporaryFolder> copy_;
};

// Mistakes stand in the copy of a folder; the user knows its name.
Failure named_as_written(Failure failure, const std::string& folder, const std::string& name) {
    for (auto& each : failure.diagnostics) {
        if (each.where.file.starts_with(folder)) each.where.file.replace(0, folder.size(), name);
    }
    return failure;
}

// Judges by `facts`, and by what the lock beside the matrix says of images.
Status judge_side(const fs::path& path, const Facts& facts, const file::Reader& read,
                  const SideOptions& options, const World& world, LoadedSide& side) {
    CM_TRY_ASSIGN(side.matrix, read_matrix_file(path, rules::mistakes_in_ids, lookup::names_in(facts), read));
    JudgeOptions judging;
    judging.today = options.on.empty() ? world.today : options.on;
    judging.on_progress = watched(world);
    const auto known = side.side.lock ? with_configurations(facts, *side.side.lock) : facts;
    CM_TRY_ASSIGN(side.judgement, judge_whole(*side.matrix, known, judging));
    side.side.cells = diff::judged_verdicts(*side.matrix, *side.judgement);
    return Done{};
}

// Cells by what became of them, with the tests that did not pass; and the sizes of images.
void take_run(const RunReport& report, diff::Side& side) {
    static constexpr std::array<std::string_view, 6> kOutcomes{
        "passed", "passed_without_gpu", "planned", "skipped", "failed", "errored"};
    auto& cells = side.cells.emplace();
    cells.words = kOutcomes;
    for (const auto& cell : report.cells) {
        RecordedVerdict verdict{std::string(to_string(cell.outcome)), {}};
        for (const auto& test : cell.tests) {
            if (test.status != TestStatus::pass && test.status != TestStatus::skip)
                verdict.rules.push_back(test.id);
        }
        cells.by_cell.emplace(cell.id, std::move(verdict));
        cells.order.push_back(cell.id);
        if (!cell.reason.empty()) cells.reasons.emplace(cell.id, cell.reason);
    }
    for (const auto& image : report.images) {
        if (image.runtime_bytes != 0) side.bytes.emplace(image.id, image.runtime_bytes);
    }
}

}  // namespace

std::string_view to_string(SideKind kind) {
    switch (kind) {
        case SideKind::matrix:
            return "a matrix file";
        case SideKind::lock:
            return "a lock";
        case SideKind::facts:
            return "a folder of facts";
        case SideKind::run:
            return "the report of a run";
    }
    return "a matrix file";
}

Result<std::unique_ptr<LoadedSide>> load_side(const std::string& name, const Facts& facts,
                                              const SideOptions& options, const World& world) {
    Place place(name, world);
    CM_TRY_ASSIGN(const bool is_folder, place.is_folder());
    auto out = std::make_unique<LoadedSide>();
    out->side.name = name;
    const auto ending = fs::path(place.path()).extension();
    if (is_folder) {
        out->kind = SideKind::facts;
        CM_TRY_ASSIGN(const auto folder, place.tables());
        auto own = load_facts(folder, world, options.on);
        if (!own.ok()) return named_as_written(own.failure(), folder, name);
        out->side.facts = *std::move(own);
        if (!options.matrix.empty())
            CM_TRY(judge_side(options.matrix, *out->side.facts, file::read, options, world, *out));
    } else if (ending == ".lock") {
        out->kind = SideKind::lock;
        CM_TRY_ASSIGN(const auto text, place.reader()(name, kLargestFile));
        CM_TRY_ASSIGN(out->side.lock, parse_lock(text, name));
        if (out->side.lock->verdicts) out->side.cells = diff::recorded_verdicts(*out->side.lock->verdicts);
    } else if (ending == ".json") {
        out->kind = SideKind::run;
        CM_TRY_ASSIGN(const auto text, place.reader()(name, kLargestFile));
        CM_TRY_ASSIGN(const auto report, report::read_run_json(text, name));
        take_run(report, out->side);
    } else {
        CM_TRY_ASSIGN(const auto lock, place.beside(kLockFile));
        if (lock) {
            CM_TRY_ASSIGN(out->side.lock,
                          parse_lock(*lock, (fs::path(name).parent_path() / kLockFile).string()));
        }
        CM_TRY(judge_side(name, facts, place.reader(), options, world, *out));
    }
    return out;
}

}  // namespace cudamatrix
