#include "run/collect/find_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/text.hpp"

namespace cudamatrix::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kReport = "report.json";
constexpr std::size_t kMostFiles = 100'000;
constexpr std::size_t kMostEntries = 2'000'000;  // of folders, whatever they are

constexpr std::array<std::string_view, 4> kLogs{".jsonl", ".log", ".txt", ".out"};
// What `run` writes beside its report: the logs there are of cells that the report has.
constexpr std::array<std::string_view, 8> kBesideReport{"logs", "images", "suite",      "bootstrap",
                                                        "sbom", "host",   "report.txt", "journal.jsonl"};

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

class Walk {
  public:
    explicit Walk(std::vector<FoundFile>& found) : found_(found) {}

    Status folder(const fs::path& top) {
        std::vector<fs::path> open{top};
        while (!open.empty()) {
            const auto path = std::move(open.back());
            open.pop_back();
            CM_TRY_ASSIGN(auto names, entries(path));
            const bool has_report = std::ranges::binary_search(names, std::string(kReport));
            std::vector<fs::path> below;
            for (const auto& name : names) {
                if (has_report && is_one_of(kBesideReport, name)) continue;
                std::error_code error;
                const auto status = fs::symlink_status(path / name, error);
                if (fs::is_directory(status)) below.push_back(path / name);
                if (fs::is_regular_file(status)) CM_TRY(file(path / name, name));
            }
            open.insert(open.end(), below.rbegin(), below.rend());
        }
        return Done{};
    }

  private:
    Result<std::vector<std::string>> entries(const fs::path& path) {
        std::vector<std::string> names;
        std::error_code error;
        for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
            if (++entries_ > kMostEntries)
                return input_failure(fmt::format("{}: more than {} files and folders",
                                                 text::printable(path.string()), kMostEntries),
                                     "name the folders that hold results");
            names.push_back(at->path().filename().string());
        }
        if (error)
            return input_failure(
                fmt::format("cannot read {}: {}", text::printable(path.string()), error.message()));
        std::ranges::sort(names);
        return names;
    }

    Status file(const fs::path& path, std::string_view name) {
        const bool is_report = name == kReport;
        if (!is_report && !is_one_of(kLogs, path.extension().string())) return Done{};
        if (found_.size() == kMostFiles)
            return input_failure(
                fmt::format("{}: more than {} files", text::printable(path.string()), kMostFiles),
                "collect parts of them with --format json, and the parts as one with report");
        found_.push_back({path.string(), is_report, false});
        return Done{};
    }

    std::vector<FoundFile>& found_;
    std::size_t entries_ = 0;
};

}  // namespace

Result<std::vector<FoundFile>> find_files(const std::vector<std::string>& paths) {
    std::vector<FoundFile> found;
    Walk walk(found);
    for (const auto& path : paths) {
        std::error_code error;
        if (!fs::is_directory(path, error)) {
            found.push_back({path, fs::path(path).extension() == ".json", true});
            continue;
        }
        const auto before = found.size();
        CM_TRY(walk.folder(path));
        if (found.size() == before)
            return Failure{
                ExitCode::bad_input,
                {Diagnostic::error("no report.json and no log in this folder", {path, 0, 0})
                     .with_fix("name the folder to which the results of the machines were copied")}};
    }
    return found;
}

}  // namespace cudamatrix::collect
