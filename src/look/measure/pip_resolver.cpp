#include "look/measure/pip_resolver.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <variant>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/pep440.hpp"
#include "look/measure/rows.hpp"
#include "look/measure/wheel_info.hpp"

namespace cudamatrix::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOldestPip = "25.3";
constexpr std::uint64_t kLargestReport = 64U << 20;

// --only-binary is about what indexes offer: of a demand that names a URL ("x @ https://...") pip builds the
// source all the same. Python reads this file before it starts pip; of the pip that starts another python
// (--python) the other one is kept from it.
constexpr std::string_view kGuard = R"(import os
import sys


def refuse(event, arguments):
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty"):
        raise FileNotFoundError("no program may be started")  # which pip takes for one that is not there


if "_PIP_RUNNING_IN_SUBPROCESS" in os.environ or "--python" not in getattr(sys, "orig_argv", ()):
    sys.addaudithook(refuse)
)";

// The start of a command that runs pip, and what it says of itself.
struct Pip {
    std::vector<std::string> argv;
    std::string version;
};

// A folder with the guard in it.
Result<std::unique_ptr<file::TemporaryFolder>> open_workshop(const Environment& environment) {
    CM_TRY_ASSIGN(auto workshop, file::TemporaryFolder::make(value_of(environment, {"TMPDIR"}), "pip"));
    CM_TRY(file::make_directories(workshop->path() + "/guard"));
    CM_TRY(file::create(workshop->path() + "/guard/sitecustomize.py", kGuard));
    return workshop;
}

// Of pip's own variables those that say how an index is reached: others (PIP_CONSTRAINT, PIP_PRE,
// PIP_NO_DEPS) would change the question.
Environment environment_of(const PipRequest& request) {
    static const std::set<std::string_view> kept{
        "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX",  "PIP_FIND_LINKS",   "PIP_TRUSTED_HOST",
        "PIP_CERT",      "PIP_CLIENT_CERT",     "PIP_PROXY",     "PIP_TIMEOUT",      "PIP_DEFAULT_TIMEOUT",
        "PIP_RETRIES",   "PIP_CONFIG_FILE",     "PIP_CACHE_DIR", "PIP_NO_CACHE_DIR", "PIP_KEYRING_PROVIDER"};
    auto out = request.environment;
    std::erase_if(
        out, [](const auto& each) { return each.first.starts_with("PIP_") && kept.count(each.first) == 0; });
    out["COLUMNS"] = "4000";
    return out;
}

// Guarded, and in a folder of its own: `-m` would take a pip from the folder that the user stands in.
Command command_of(std::vector<std::string> argv, const PipRequest& request, const std::string& folder,
                   const std::string& guard) {
    Command command;
    command.argv = std::move(argv);
    command.environment = environment_of(request);
    command.environment["PYTHONPATH"] = guard;
    command.working_directory = folder;
    return command;
}

// "3.12" of "3.12.4" and "3.12t".
std::string minor_of(std::string_view python) {
    const auto version = Version::parse(without_suffix(python));
    return version ? version->major_minor() : std::string(python);
}

// "pip 26.3 from /usr/lib/python3/dist-packages/pip (python 3.12)"
std::optional<Pip> pip_with(const std::vector<std::string>& argv, const std::string& minor,
                            const PipRequest& request, const std::string& folder) {
    auto asked = argv;
    asked.emplace_back("--version");
    auto command = command_of(asked, request, folder, folder + "/guard");
    command.time_limit = std::chrono::seconds(60);
    const auto outcome = run(command, request.cancellation);
    if (!outcome.ok() || !outcome->success()) return std::nullopt;
    const auto words = text::split(text::trim(outcome->out), ' ');
    if (words.size() < 3 || words[0] != "pip" || !Version::parse(words[1])) return std::nullopt;
    if (!text::trim(outcome->out).ends_with(fmt::format("(python {})", minor))) return std::nullopt;
    return Pip{argv, words[1]};
}

// The first that is new enough; else why there is none.
std::variant<Pip, std::string> find_pip(const std::string& minor, const PipRequest& request,
                                        const std::string& folder) {
    const auto python = "python" + minor;
    std::vector<std::vector<std::string>> ways{{"python3", "-m", "pip"}, {python, "-m", "pip"}};
    if (const auto path = find_program(python, request.environment))
        ways.push_back({"python3", "-m", "pip", "--python", *path});
    std::string old;
    for (const auto& way : ways) {
        auto pip = pip_with(way, minor, request, folder);
        if (!pip) continue;
        if (*Version::parse(pip->version) >= *Version::parse(kOldestPip)) return *std::move(pip);
        old = fmt::format("; pip {} reads whole wheels in a dry run", pip->version);
    }
    return fmt::format("needs python {} with pip {} or newer on this machine{}", minor, kOldestPip, old);
}

// The platforms whose wheels that glibc runs (PEP 600, and the names of old); the newest first. Wheels of the
// PyTorch project's own indexes say linux_ARCH. Without a glibc all that there are.
std::vector<std::string> platforms_of(const PipQuestion& question, const Facts& facts) {
    constexpr std::uint32_t kOldest = 5, kNewest = 60;  // a glibc comes out every half year: 2.41 in 2025
    const auto glibc = Version::parse(question.glibc);
    std::vector<std::string> out;
    for (auto minor = glibc ? std::min(glibc->minor(), kNewest) : kNewest; minor >= kOldest; --minor)
        out.push_back(fmt::format("manylinux_2_{}_{}", minor, question.arch));
    for (const auto& row : facts.rows("manylinux_tags")) {
        const auto needed = Version::parse(row.text("glibc"));
        if (!glibc || (needed && *needed <= *glibc))
            out.push_back(fmt::format("{}_{}", row.text("tag"), question.arch));
    }
    out.push_back("linux_" + question.arch);
    return out;
}

}  // namespace

std::vector<std::string> pip_arguments(const PipQuestion& question, const PipRequest& request,
                                       const Facts& facts, const std::string& folder) {
    std::vector<std::string> argv{"install",
                                  "--dry-run",
                                  "--ignore-installed",
                                  "--no-input",
                                  "--no-color",
                                  "--disable-pip-version-check",
                                  "--progress-bar",
                                  "off",
                                  "--use-feature",
                                  "fast-deps",
                                  "--only-binary",
                                  ":all:",
                                  "--report",
                                  folder + "/report.json",
                                  "--target",
                                  folder + "/none",
                                  "--implementation",
                                  "cp"};
    const auto version = Version::parse(without_suffix(question.python));
    // To pip 3.12 is 3.12.0; here it is the newest patch release, as everywhere.
    argv.insert(argv.end(), {"--python-version", version && version->size() == 2
                                                     ? version->text() + ".99"
                                                     : std::string(without_suffix(question.python))});
    const auto minor = minor_of(question.python);
    auto abi = "cp" + text::replace_all(minor, ".", "");
    if (question.python.ends_with('t')) abi += "t";
    argv.insert(argv.end(), {"--abi", abi});
    for (auto& platform : platforms_of(question, facts))
        argv.insert(argv.end(), {"--platform", std::move(platform)});
    if (!request.mirror.empty()) argv.insert(argv.end(), {"--index-url", request.mirror});
    std::set<std::string> indexes;
    for (const auto& pin : question.pins) {
        const auto index = request.variants.find(pep440::local_of(pin));
        if (index != request.variants.end() && indexes.insert(index->second).second)
            argv.insert(argv.end(), {"--extra-index-url", index->second});
    }
    argv.emplace_back("--");
    argv.insert(argv.end(), question.pins.begin(), question.pins.end());
    return argv;
}

namespace {

// All questions, some at a time.
class Resolving {
  public:
    Resolving(const PipRequest& request, const Facts& facts, const std::string& folder)
        : request_(request), facts_(facts), folder_(folder) {}

    void find_pips() {
        for (const auto& question : request_.questions) {
            const auto minor = minor_of(question.python);
            if (question.arch != own_processor()) {
                unasked_.insert(fmt::format("needs a machine with {}", question.arch));
            } else if (pips_.count(minor) == 0) {
                pips_.emplace(minor, find_pip(minor, request_, folder_));
                if (const auto* why = std::get_if<std::string>(&pips_.at(minor))) unasked_.insert(*why);
            }
        }
    }

    void run_all() {
        for (const auto& question : request_.questions) {
            if (question.arch != own_processor()) continue;
            if (const auto* pip = std::get_if<Pip>(&pips_.at(minor_of(question.python))))
                asked_.emplace_back(&question, pip);
        }
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (auto i = next++; i < asked_.size(); i = next++) {
                if (interrupted(request_.cancellation)) return;
                const auto& [question, pip] = asked_[i];
                note(*question, answer(*question, *pip, fmt::format("{}/{}", folder_, i)));
            }
        };
        on_threads(std::min<std::size_t>(request_.jobs, asked_.size()), work);
    }

    Result<PipAnswers> finish() {
        answers_.unasked.assign(unasked_.begin(), unasked_.end());
        answers_.rows = rows_.size();
        CM_TRY_ASSIGN(const auto left_out,
                      write_overlay(request_.out, std::move(rows_), request_.today, request_.facts));
        for (const auto& row : left_out)
            answers_.untold.push_back("left out: " + row);
        if (interrupted(request_.cancellation)) return Failure{ExitCode::interrupted, {}};
        return std::move(answers_);
    }

  private:
    void note(const PipQuestion& question, Result<MeasuredRow> row) {
        const std::lock_guard lock(mutex_);
        std::string_view word = "no answer";
        if (row.ok()) {
            word = row->cell("takes") != nullptr      ? "resolved"
                   : row->cell("conflict") != nullptr ? "conflict"
                                                      : "not found";
            rows_.push_back(std::move(row).value());
        } else {
            answers_.untold.push_back(fmt::format("pip's resolver has no answer to {}: {}", question.text(),
                                                  row.failure().diagnostics.front().message));
        }
        request_.progress(fmt::format("[{}/{}] pip: {}: {}", ++done_, asked_.size(), question.text(), word));
    }

    Result<MeasuredRow> answer(const PipQuestion& question, const Pip& pip, const std::string& folder) const {
        CM_TRY(file::make_directories(folder));
        auto argv = pip.argv;
        const auto arguments = pip_arguments(question, request_, facts_, folder);
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        auto command = command_of(std::move(argv), request_, folder, folder_ + "/guard");
        command.time_limit = request_.time_limit;
        CM_TRY_ASSIGN(const auto outcome, run(command, request_.cancellation));
        std::string report;
        if (outcome.success()) {
            CM_TRY_ASSIGN(report, file::read(folder + "/report.json", kLargestReport));
        }
        return resolution_row(question, outcome, report, pip.version, request_);
    }

    const PipRequest& request_;
    const Facts& facts_;
    const std::string& folder_;
    std::map<std::string, std::variant<Pip, std::string>> pips_;
    std::set<std::string> unasked_;
    std::vector<std::pair<const PipQuestion*, const Pip*>> asked_;
    std::size_t done_ = 0;
    std::mutex mutex_;
    std::vector<MeasuredRow> rows_;
    PipAnswers answers_;
};

}  // namespace

Result<PipAnswers> ask_pip(const PipRequest& request, const Facts& facts) {
    if (request.questions.empty()) return PipAnswers{};
    CM_TRY_ASSIGN(const auto workshop, open_workshop(request.environment));
    Resolving resolving(request, facts, workshop->path());
    resolving.find_pips();
    resolving.run_all();
    return resolving.finish();
}

}  // namespace cudamatrix::measure
