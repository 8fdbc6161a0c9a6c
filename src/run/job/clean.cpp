#include "run/job/clean.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "render/files/artifacts.hpp"
#include "run/job/folder.hpp"

namespace cudamatrix::job {
namespace {

namespace fs = std::filesystem;

using Names = std::set<std::string, std::less<>>;

constexpr std::chrono::minutes kRemovalLimit{5};  // an image of many gigabytes
constexpr std::uint64_t kLargestIndex = 64u << 20;

bool says_gone(std::string_view said) {
    return said.find("no such") != std::string_view::npos || said.find("not known") != std::string_view::npos;
}

// podman writes out which registry a name without one belongs to.
std::string_view short_name(std::string_view name) {
    constexpr std::string_view kLocal = "localhost/";
    return name.starts_with(kLocal) ? name.substr(kLocal.size()) : name;
}

// The images that an output folder names, and their proofs.
Result<Names> references_of(const fs::path& out) {
    const auto content = file::read(out / "index.json", kLargestIndex);
    const auto json = content.ok() ? parse_json(*content, "index.json") : Result<Json>(content.failure());
    const auto* images = json.ok() ? member(*json, "images") : nullptr;
    if (images == nullptr || !images->is_array()) {
        return input_failure(fmt::format("{} is no output folder: it has no index.json that can be read",
                                         text::printable(out.string())),
                             "name the folder that --out named when the images were built");
    }
    Names names;
    for (const auto& image : *images) {
        const auto name = string_or(image, "reference");
        names.insert(name);
        names.insert(name + std::string(kProofEnding));
    }
    return names;
}

class Sweeper {
  public:
    Sweeper(const CleanSettings& settings, const engine::Engine& engine)
        : settings_(settings), engine_(engine) {}

    Status containers() {
        const auto label = settings_.out.empty()
                               ? std::string(engine::kRunLabel)
                               : fmt::format("{}={}", engine::kFolderLabel, folder_mark(settings_.out));
        CM_TRY_ASSIGN(auto found, listed(engine_.dialect->list(label), false));
        for (auto& each : found) {
            if (!settings_.dry_run) each.reason = failure_of(engine_.dialect->remove(each.id));
            CM_TRY(settle(std::move(each)));
        }
        return Done{};
    }

    /// `wanted`: only these; nothing: all.
    Status images(const std::optional<Names>& wanted) {
        CM_TRY_ASSIGN(auto found, listed(engine_.dialect->list_images(kInputsLabel), true));
        std::erase_if(found,
                      [&](const Swept& each) { return wanted && !wanted->contains(short_name(each.name)); });
        // The proof stands on the image, and what has no name may stand on anything.
        std::stable_partition(found.begin(), found.end(),
                              [](const Swept& each) { return each.name.ends_with(kProofEnding); });
        std::vector<Swept> nameless;
        for (auto& each : found) {
            if (each.name.empty()) {
                nameless.push_back(std::move(each));
            } else if (!short_name(each.name).starts_with("cudamatrix/")) {
                each.outcome = SweptOutcome::kept;
                each.reason = "its name is not one of ours";
                report.swept.push_back(std::move(each));
            } else {
                if (!settings_.dry_run) each.reason = failure_of(engine_.dialect->remove_image(each.name));
                CM_TRY(settle(std::move(each)));
            }
        }
        return without_name(std::move(nameless));
    }

    CleanReport report;

  private:
    // One may stand on another: as long as one goes, the rest is tried again.
    Status without_name(std::vector<Swept> images) {
        for (bool progress = !settings_.dry_run; progress;) {
            progress = false;
            for (auto each = images.begin(); each != images.end();) {
                each->reason = failure_of(engine_.dialect->remove_image(each->id));
                if (!each->reason.empty()) {
                    ++each;
                    continue;
                }
                CM_TRY(settle(std::move(*each)));
                each = images.erase(each);
                progress = true;
            }
        }
        for (auto& each : images)
            CM_TRY(settle(std::move(each)));
        return Done{};
    }

    Status settle(Swept each) {
        if (cudamatrix::interrupted(settings_.cancellation)) return Failure{ExitCode::interrupted, {}};
        each.outcome = settings_.dry_run     ? SweptOutcome::would_remove
                       : each.reason.empty() ? SweptOutcome::removed
                                             : SweptOutcome::failed;
        report.swept.push_back(std::move(each));
        return Done{};
    }

    Result<std::vector<Swept>> listed(engine::Argv question, bool images) const {
        CM_TRY_ASSIGN(const auto answer, engine::ask(engine_, std::move(question), settings_.cancellation));
        if (answer.how == Ended::cancelled) return Failure{ExitCode::interrupted, {}};
        if (!answer.success()) {
            return environment_failure(fmt::format("engine {} does not list its {}: {}", engine_.name(),
                                                   images ? "images" : "containers",
                                                   engine::reason_of(answer)));
        }
        std::vector<Swept> out;
        for (auto& [id, name] : engine::read_list(answer.out)) {
            if (name.find("<none>") != std::string::npos) name.clear();
            out.push_back({images, std::move(id), std::move(name), SweptOutcome::removed, {}});
        }
        return out;
    }

    // Why it is still there; empty: it is gone.
    [[nodiscard]] std::string failure_of(engine::Argv removal) const {
        auto command = engine_.command(std::move(removal));
        command.time_limit = kRemovalLimit;
        command.output_limit = 1u << 20;
        const auto outcome = run(command, settings_.cancellation);
        if (!outcome.ok()) return "the engine cannot be called";
        if (outcome->success() || says_gone(text::lower(outcome->err))) return {};
        return engine::reason_of(*outcome);
    }

    const CleanSettings& settings_;
    const engine::Engine& engine_;
};

}  // namespace

std::string folder_mark(const fs::path& out) {
    std::error_code error;
    const auto whole = fs::weakly_canonical(fs::absolute(out, error), error);
    auto path = (error ? out : whole).generic_string();
    while (path.size() > 1 && path.back() == '/')
        path.pop_back();
    return sha256(path).substr(0, 16);
}

Result<CleanReport> clean(const CleanSettings& settings) {
    std::optional<Names> names;
    std::optional<FolderLock> folder;
    if (!settings.out.empty()) {
        CM_TRY_ASSIGN(names, references_of(settings.out));
        CM_TRY_ASSIGN(auto taken, FolderLock::take(settings.out));
        folder.emplace(std::move(taken));
    }
    CM_TRY_ASSIGN(const auto engine,
                  engine::choose(settings.engine, settings.environment, settings.cancellation));
    if (!engine.containers()) {
        return input_failure("engine host has neither containers nor images",
                             "--engine docker, or --engine podman");
    }
    Sweeper sweeper(settings, engine);
    CM_TRY(sweeper.containers());
    if (settings.images) {
        CM_TRY(sweeper.images(names));
    }
    sweeper.report.engine = engine.name();
    sweeper.report.engine_why = engine.why;
    sweeper.report.dry_run = settings.dry_run;
    return std::move(sweeper.report);
}

}  // namespace cudamatrix::job
