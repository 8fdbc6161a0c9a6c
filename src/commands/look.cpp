#include "commands/look.hpp"

#include <optional>

#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "commands/index_options.hpp"
#include "registry/http.hpp"
#include "registry/wheel_index.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix {
namespace {

void say(const std::string& message, const World& world) {
    tell(Diagnostic::warning("--look: " + message), world);
}

// That nobody was asked is no failure.
void say_unasked(const std::string& why, const World& world) {
    const auto note = Diagnostic::note("--look: pip's resolver was not asked: " + why);
    tell(note, world);
}

// Measures what requests ask for into the store; what cannot be found out is said on stderr.
class Looker {
  public:
    Looker(const std::string& overlay, const std::filesystem::path& store, const Mirrors& mirrors,
           const World& world)
        : overlay_(overlay), store_(store), mirrors_(mirrors), world_(world) {}

    /// The facts with what was seen now.
    [[nodiscard]] Result<Facts> measure(Requests requests, const Facts& facts) {
        if (requests.empty()) return facts;
        for (auto& request : requests) {
            CM_TRY(measure_one(request, facts));
        }
        return facts_with_store(overlay_, store_, world_);
    }

  private:
    Status measure_one(measure::MeasureRequest& request, const Facts& facts) {
        CM_TRY(prepare(request));
        const auto measured = measure::measure(request, facts, *http_);
        if (!measured.ok()) {
            if (measured.failure().code == ExitCode::interrupted) return measured.failure();
            say(measured.failure().diagnostics.front().message, world_);
            return Done{};
        }
        for (const auto& lost : measured->not_measured)
            say(lost, world_);
        for (const auto& row : measured->left_out)
            say("left out: " + row, world_);
        return Done{};
    }

    Status prepare(measure::MeasureRequest& request) {
        if (!http_) {
            HttpOptions settings;
            settings.environment = world_.environment;
            settings.mirrors = mirrors_;
            settings.cancellation = world_.cancellation;
            CM_TRY_ASSIGN(http_, Http::open(std::move(settings)));
        }
        request.out = store_.string();
        request.facts = overlay_;
        const bool by_default = request.index.empty() && !request.is_image;
        if (by_default) request.index = default_index_;  // pip is asked once
        if (request.is_image) request.index = "none";    // pip need not be asked
        CM_TRY(complete(request, world_));
        if (by_default) {
            default_index_ = request.index;
            request.default_index = true;
        }
        return Done{};
    }

    const std::string& overlay_;
    const std::filesystem::path& store_;
    const Mirrors& mirrors_;
    const World& world_;
    std::unique_ptr<Http> http_;
    std::string default_index_;
};

// torch in three steps, each of which knows what the one before has found: the default index, the index of
// the variant, and the code in the libraries.
Result<Facts> look_for_torch(const Named& named, const Facts& before, const std::filesystem::path& store,
                             const Mirrors& mirrors, const World& world, Looker& looker, Facts facts) {
    CM_TRY_ASSIGN(facts, looker.measure(torch_requests(named, facts, world.today), facts));
    CM_TRY_ASSIGN(facts, looker.measure(variant_requests(named, facts, mirrors, world.today), facts));
    CM_TRY_ASSIGN(const auto inspected, measure::InspectionCache::open(store / measure::kMeasuredFile));
    const auto was_read = [&](const std::string& sha256) {
        const auto wheel = inspected->recall(sha256, true);
        return wheel && wheel->library_code;
    };
    return looker.measure(code_requests(named, facts, before, mirrors, was_read), facts);
}

}  // namespace

Result<std::filesystem::path> own_store(const World& world) {
    if (const auto cache = value_of(world.environment, {"XDG_CACHE_HOME"}); !cache.empty())
        return std::filesystem::path(cache) / "cudamatrix" / "facts";
    if (const auto home = value_of(world.environment, {"HOME"}); !home.empty())
        return std::filesystem::path(home) / ".cache" / "cudamatrix" / "facts";
    return environment_failure("--look has no place for what it sees: HOME is not set",
                               "set HOME or XDG_CACHE_HOME");
}

Result<Facts> facts_with_store(const std::string& overlay, const std::filesystem::path& store,
                               const World& world) {
    std::vector<std::filesystem::path> folders;
    if (!overlay.empty()) folders.emplace_back(overlay);
    std::error_code error;
    for (std::filesystem::directory_iterator it(store, error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().extension() != ".yaml") continue;
        folders.push_back(store);
        break;
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return environment_failure(
            fmt::format("your own facts in {} cannot be read: {}", store.string(), error.message()),
            "make it a folder that you may read, or set XDG_CACHE_HOME to another place");
    }
    if (folders.empty()) return Facts::embedded();
    return Facts::with_overlays(folders, world.today);
}

Status look(const std::string& overlay, const World& world, bool deep, Loaded& loaded) {
    CM_TRY_ASSIGN(const auto store, own_store(world));
    const auto before = loaded.facts;
    const auto lock = loaded.lock.value_or(Lock{});
    CM_TRY_ASSIGN(auto facts, facts_with_store(overlay, store, world));
    const auto named = named_in(loaded.matrix, facts);
    const auto& mirrors = loaded.matrix.mirrors;
    Looker looker(overlay, store, mirrors, world);
    CM_TRY_ASSIGN(facts, looker.measure(package_requests(named, facts), facts));
    if (deep && !named.gpu && !named.images.empty())
        say("the matrix names no gpu and no compute: no layer is read", world);
    CM_TRY_ASSIGN(facts,
                  looker.measure(image_requests(named, with_configurations(facts, lock), deep), facts));
    CM_TRY_ASSIGN(facts, look_for_torch(named, before, store, mirrors, world, looker, std::move(facts)));
    loaded.facts = with_configurations(facts, lock);
    const auto questions = pip_questions(loaded.matrix, loaded.facts, world.today);
    CM_TRY_ASSIGN(const bool told, look_with_pip(questions, overlay, mirrors, world, facts));
    if (told) loaded.facts = with_configurations(facts, lock);
    return Done{};
}

Result<bool> look_with_pip(const PipQuestions& questions, const std::string& overlay, const Mirrors& mirrors,
                           const World& world, Facts& facts) {
    for (const auto& why : questions.refused)
        say_unasked(why, world);
    if (!questions.all) say_unasked("the cells behind the first 100000", world);
    if (questions.open.empty()) return false;
    const auto index = default_index(world.environment, world.cancellation);
    if (!index.ok()) {
        say_unasked(index.failure().diagnostics.front().message, world);
        return false;
    }
    auto request = pip_request(questions.open, facts, mirrors, *index);
    CM_TRY_ASSIGN(const auto store, own_store(world));
    request.out = store.string();
    request.facts = overlay;
    request.today = world.today;
    request.environment = world.environment;
    request.cancellation = world.cancellation;
    request.progress = [](std::string_view line) { tell(fmt::format("{}\n", text::printable(line))); };
    CM_TRY_ASSIGN(const auto answers, measure::ask_pip(request, facts));
    for (const auto& why : answers.untold)
        say(why, world);
    for (const auto& why : answers.unasked)
        say_unasked(why, world);
    if (answers.rows == 0) return false;
    CM_TRY_ASSIGN(facts, facts_with_store(overlay, store, world));
    return true;
}

Status look_for(const Wanted& wanted, const std::string& overlay, const World& world, Facts& facts) {
    CM_TRY_ASSIGN(const auto store, own_store(world));
    const auto before = facts;
    CM_TRY_ASSIGN(facts, facts_with_store(overlay, store, world));
    const auto named = named_in(wanted.fields, facts);
    const Mirrors none;
    Looker looker(overlay, store, none, world);
    CM_TRY_ASSIGN(facts, looker.measure(need_requests(wanted.needs, facts), facts));
    CM_TRY_ASSIGN(facts, look_for_torch(named, before, store, none, world, looker, facts));
    return Done{};
}

}  // namespace cudamatrix
