// torch in the python environments of this machine, and what it would do here, by the rules of `check`. Files
// are read; no python is run.
#include <algorithm>
#include <map>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/solve/variable.hpp"
#include "matrix/matrix_file.hpp"
#include "run/doctor/probes.hpp"

namespace cudamatrix::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestVersionFile = 1u << 20;
constexpr std::size_t kMostEntries = 20'000;  // of a folder of packages
// A torchvision of another torch can be installed by force, and does not load.
constexpr std::string_view kCompanions = "companions-match-torch";
constexpr std::size_t kMostInstalls = 16;

struct Install {
    fs::path packages;   ///< .../lib/python3.12/site-packages
    std::string python;  ///< "3.12"
    std::string torch;   ///< "2.6.0+cu124"
};

// Sub-folders, sorted; none where it cannot be read.
std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (const fs::directory_iterator end; !error && entry != end && out.size() < kMostEntries;
         entry.increment(error))
        out.push_back(entry->path());
    std::ranges::sort(out);
    return out;
}

// Where environments are made: by venv and uv in a project, by conda, by pyenv, by hand.
std::vector<fs::path> prefixes(const Context& context) {
    const auto& environment = context.machine().environment;
    std::vector<fs::path> out;
    for (const auto* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        if (const auto value = value_of(environment, {variable}); !value.empty()) out.emplace_back(value);
    }
    for (const auto* name : {".venv", "venv"})
        out.push_back(fs::path(context.subject->folder) / name);
    for (const auto* folder : {"/usr", "/usr/local", "/opt/conda"})
        out.push_back(context.below(folder));
    std::vector<fs::path> several{context.below("/opt/conda/envs")};
    if (const auto home = value_of(environment, {"HOME"}); !home.empty()) {
        out.push_back(fs::path(home) / ".local");
        several.push_back(fs::path(home) / ".pyenv/versions");
        for (const auto* conda : {"miniconda3", "anaconda3", "miniforge3", "mambaforge"}) {
            out.push_back(fs::path(home) / conda);
            several.push_back(fs::path(home) / conda / "envs");
        }
    }
    for (const auto& folder : several) {
        for (auto& prefix : folders_in(folder))
            out.push_back(std::move(prefix));
    }
    return out;
}

// "'2.6.0+cu124'" behind "NAME = " or "NAME: type = " of a line; empty for None.
std::string assigned(std::string_view line) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return {};
    const auto value = text::trim(line.substr(equals + 1));
    const bool quoted =
        value.size() > 2 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front();
    return quoted ? std::string(value.substr(1, value.size() - 2)) : std::string();
}

// torch/version.py, which torch's own build writes: __version__ and cuda. A build without a variant in its
// name (conda's, the source's) has that of the CUDA that it was built with.
std::string torch_in(const fs::path& packages) {
    const auto content = file::read(packages / "torch/version.py", kLargestVersionFile);
    if (!content.ok()) return {};
    std::string release, cuda;
    bool tells_cuda = false;
    for (const auto& line : text::split(*content, '\n')) {
        if (line.starts_with("__version__") && release.empty()) release = assigned(line);
        if (!line.starts_with("cuda")) continue;
        cuda = assigned(line);
        tells_cuda = true;
    }
    if (release.empty() || release.find('+') != std::string::npos || !tells_cuda) return release;
    return release + (cuda.empty() ? "+cpu" : "+cu" + text::replace_all(cuda, ".", ""));
}

std::vector<Install> installs_of(const Context& context) {
    std::vector<Install> out;
    std::set<fs::path> seen;
    for (const auto& prefix : prefixes(context)) {
        for (const auto& library : folders_in(prefix / "lib")) {
            const auto name = library.filename().string();
            if (!name.starts_with("python3")) continue;
            for (const auto* kind : {"site-packages", "dist-packages"}) {
                std::error_code error;
                const auto packages = fs::canonical(library / kind, error);
                if (error || out.size() == kMostInstalls || !seen.insert(packages).second) continue;
                if (auto torch = torch_in(packages); !torch.empty())
                    out.push_back({packages, name.substr(6), std::move(torch)});
            }
        }
    }
    return out;
}

// NAME-VERSION.dist-info of those that facts know.
std::map<std::string, std::string> packages_in(const Install& install,
                                               const std::vector<std::string>& known) {
    std::map<std::string, std::string> out;
    for (const auto& folder : folders_in(install.packages)) {
        const auto name = folder.filename().string();
        constexpr std::string_view kEnding = ".dist-info";
        const auto dash = name.find('-');
        if (!name.ends_with(kEnding) || dash == std::string::npos) continue;
        const auto package = text::normalised_project(name.substr(0, dash));
        if (std::ranges::find(known, package) == known.end()) continue;
        out[package] = name.substr(dash + 1, name.size() - dash - 1 - kEnding.size());
    }
    return out;
}

// What is installed, as a matrix of one cell.
Result<Matrix> matrix_of(const Install& install, const Facts& facts) {
    const auto quoted = [](const std::string& text) { return to_text(Json(text), false); };
    auto out = fmt::format("version: 1\nset:\n  torch: {}\n", quoted(install.torch));
    // "3" is of Debian's shared folder.
    if (install.python.find('.') != std::string::npos)
        out += fmt::format("  python: {}\n", quoted(install.python));
    const auto packages = packages_in(install, solve::package_names(facts));
    if (!packages.empty()) out += "  packages:\n";
    for (const auto& [name, version] : packages)
        out += fmt::format("    {}: {}\n", name, quoted(version));
    return read_matrix_text(out, install.packages.string(), {}, lookup::names_in(facts));
}

// Nothing: it has none for the report.
std::optional<Health> health_of(Severity severity) {
    switch (severity) {
        case Severity::error:
            return Health::fail;
        case Severity::warning:
        case Severity::unknown:
            return Health::warn;
        default:
            return std::nullopt;
    }
}

Lines lines_of(const Context& context, const Install& install) {
    const auto& facts = context.subject->facts;
    const auto what = fmt::format("torch {} in {}", text::printable(install.torch),
                                  text::printable(install.packages.string()));
    const auto skipped = [&](std::string_view why) {
        return Lines{{"python", Health::skipped, fmt::format("{}: {}", what, text::printable(why)), {}, {}}};
    };
    auto matrix = matrix_of(install, facts);
    if (!matrix.ok()) return skipped(matrix.failure().diagnostics.front().message);
    const bool bare = !context.host.driver && context.host.gpus.empty();
    if (!bare) {
        auto here = probe::on_machine(*matrix, context.host, facts);
        if (!here.ok()) return skipped(here.failure().diagnostics.front().message);
        matrix = std::move(here->matrix);
    }
    JudgeOptions as_of;
    as_of.today = context.subject->today;
    const auto judged = judge_whole(*matrix, facts, as_of);
    if (!judged.ok()) return skipped(judged.failure().diagnostics.front().message);
    Lines lines;
    for (const auto& group : judged->findings) {
        const auto health = health_of(group.finding.severity);
        // What is installed needs no wheel and no compiler any more. A torch that no fact knows is said.
        const auto& finding = group.finding;
        const bool is_past = finding.stage == Stage::install || finding.stage == Stage::build;
        const bool is_unheard = finding.severity == Severity::unknown && finding.primary == Field::torch;
        if (!health || (is_past && !is_unheard && finding.rule != kCompanions)) continue;
        lines.push_back({"python", *health,
                         fmt::format("{}: {}", text::printable(install.packages.string()),
                                     text::printable(group.finding.message)),
                         text::printable(group.finding.fix_text()),
                         fmt::format("cudamatrix rules show {}", group.finding.rule)});
    }
    if (lines.empty())
        lines.push_back({"python",
                         Health::ok,
                         fmt::format("{} {}", what,
                                     bare ? "fits its python; there is no GPU to judge it on"
                                          : "works here, by the rules"),
                         {},
                         {}});
    return lines;
}

}  // namespace

Lines python_lines(const Context& context) {
    Lines lines;
    for (const auto& install : installs_of(context)) {
        auto more = lines_of(context, install);
        lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    if (lines.empty())
        lines.push_back({"python", Health::skipped, "no environment with torch was found", {}, {}});
    return lines;
}

}  // namespace cudamatrix::doctor
