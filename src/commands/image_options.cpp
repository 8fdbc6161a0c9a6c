#include "commands/image_options.hpp"

#include <algorithm>
#include <chrono>

#include "base/process.hpp"
#include "base/text.hpp"
#include "run/engine/engine.hpp"

namespace cudamatrix {
namespace {

constexpr unsigned kMostSoakMinutes = 7 * 24 * 60;
constexpr std::chrono::minutes kDeeperTestLimit{30};  // for a cell's suite above level quick

// No service has the state of a day that is still to come.
Status snapshot_has_been(const BuildSettings& build, std::string_view today) {
    const std::string_view time = build.snapshot;
    if (snapshot_time(time).empty()) return Done{};
    const auto day = fmt::format("{}-{}-{}", time.substr(0, 4), time.substr(4, 2), time.substr(6, 2));
    if (day <= today) return Done{};
    return Failure{ExitCode::bad_input,
                   {Diagnostic::error(fmt::format("snapshot: {} is still to come: today is {}", day, today),
                                      build.snapshot_where)
                        .with_fix("choose a day that has been")}};
}

job::Screen screen_of(const World& world) {
    job::Screen screen;
    screen.groups = value_of(world.environment, {"GITHUB_ACTIONS"}) == "true";
    screen.columns = world.columns_err;
    if (world.live_err && !screen.groups) screen.terminal = [](std::string_view bytes) { tell(bytes); };
    screen.line = [](std::string_view line) { tell(fmt::format("{}\n", line)); };
    return screen;
}

}  // namespace

void ImageOptions::add_output(const Arguments& app) {
    input.add(app);
    app.add_option("--out", out, "Output folder (default: cudamatrix-out/NAME)").type_name("DIR");
    app.add_option(
           "--templates", templates,
           "Folder of templates and partials that replace ours by name, and of partials that they include")
        .type_name("DIR");
    app.add_option("--suite", suite,
                   "Folder with kernels/ and fatbin/ that replaces the kernel suite of this program")
        .type_name("DIR");
    add_strict(app, strict);
    choice.add(app);
}

void ImageOptions::add_build(const Arguments& app) {
    app.add_option(
           "--network", network,
           "Network of image builds, instead of build.network of the matrix file; default is the engine's own")
        .one_of({"none", "default", "host"});
    app.add_option(
           "--ca-bundle", ca_bundle,
           "PEM file with the certificates of your site, given to builds as a secret and never to a layer")
        .type_name("FILE");
    app.add_option(
           "--netrc", netrc,
           "netrc file with credentials of your mirrors, given to builds as a secret as well: apt, pip "
           "and uv use it")
        .type_name("FILE");
}

void EngineOptions::add(const Arguments& app) {
    std::vector<std::string> names{"auto"};
    for (const auto& dialect : engine::all_dialects())
        names.emplace_back(dialect.name);
    app.add_option("--engine", name,
                   "What builds and runs images; auto: docker, or else podman, never host, which is this "
                   "machine's own nvcc without images")
        .one_of(names)
        .show_default();
    app.add_option("--engine-host", host,
                   "Another machine's engine, reached by the engine's own client: ssh://USER@HOST, "
                   "tcp://HOST:PORT or unix:///SOCKET")
        .type_name("URL")
        .check([](const std::string& url) { return engine::mistake_in_host(url); });
}

void EngineOptions::add_builder(const Arguments& app) {
    app.add_option(
           "--builder", builder,
           "Builder of docker buildx that builds what users ship; what stands on it (the proof) is built by "
           "the engine's own")
        .type_name("NAME")
        .check([](const std::string& text) { return engine::mistake_in_builder(text); });
}

void ImageOptions::add_engine(const Arguments& app) {
    engine.add(app);
    engine.add_builder(app);
    add_build(app);
    app.add_option("--jobs,-j", jobs, "Images built, and cells tested without a GPU, at a time")
        .between(1, 64)
        .show_default();
    app.add_option("--build-timeout", build_minutes,
                   "Minutes that one build, or one bootstrap of a base, may take (60)")
        .between(1, 24 * 60)
        .type_name("MINUTES");
    app.add_option("--retries", retries, "How often a build is repeated that the network or a server spoilt")
        .between(0, 10)
        .show_default();
}

void ImageOptions::add_schedule(const Arguments& app) {
    app.add_flag("--fail-fast", fail_fast,
                 "Start nothing further after the first failure, instead of all that does not stand on it");
    app.add_flag(
        "--dry-run", dry_run,
        "Print the programs that would be started, in an order in which they can be, and start none");
    app.add_option("--test-timeout", test_minutes,
                   "Minutes that the suite may take for one cell (10; deeper levels more)")
        .between(1, 24 * 60)
        .type_name("MINUTES");
}

void ImageOptions::add_gpu_demand(const Arguments& app) {
    cudamatrix::add_gpu_demand(app, require_gpu, accept_static);
}

void add_gpu_demand(const Arguments& app, bool& require_gpu, bool& accept_static) {
    const auto require =
        app.add_flag("--require-gpu", require_gpu, "Passing without a GPU is exit code 1 instead of 4");
    app.add_flag("--accept-static", accept_static, "Passing without a GPU is exit code 0 instead of 4")
        .excludes(require);
}

void add_strict(const Arguments& app, bool& strict) {
    app.add_flag("--strict", strict, "Count skipped cells (rejected, unknown) as exit code 1");
}

void ImageOptions::add_level(const Arguments& app) {
    app.add_option(
           "--level", level,
           "How much of the kernel suite is run: cudamatrix kernels list says which test belongs to which level")
        .one_of({"quick", "standard", "full", "soak"})
        .show_default();
    app.add_option("--soak-minutes", soak_minutes, "At level soak: how long stress.sustained computes")
        .between(1, kMostSoakMinutes)
        .show_default();
}

Result<std::unique_ptr<Loaded>> load_for_images(const ImageOptions& options, const World& world) {
    auto loaded = load(options.input, world);
    if (!loaded.ok()) return loaded;
    auto& matrix = loaded.value()->matrix;
    const auto& judgement = loaded.value()->judgement;
    if (judgement.deployment_has(Severity::error)) {
        auto problems = judgement.deployment;
        std::erase_if(problems, [](const Diagnostic& each) { return each.severity != Severity::error; });
        return Failure{ExitCode::bad_input, std::move(problems)};
    }
    CM_TRY(snapshot_has_been(matrix.build, world.today));
    report_warnings(*loaded.value(), world);
    if (!options.network.empty()) matrix.build.network = options.network;
    auto& build = matrix.build;
    for (const auto& [option, said, path, beside, example] :
         {std::tuple{"--ca-bundle", &options.ca_bundle, &build.ca_bundle, &build.ca_bundle_beside,
                     "name a PEM file, e.g. /etc/ssl/certs/ca-certificates.crt"},
          std::tuple{"--netrc", &options.netrc, &build.netrc, &build.netrc_beside,
                     "name a netrc file, e.g. ~/.netrc"}}) {
        if (said->empty()) continue;
        std::error_code error;
        const auto absolute = std::filesystem::absolute(*said, error);
        if (error || !std::filesystem::is_regular_file(absolute, error))
            return input_failure(fmt::format("{} {}: no such file", option, text::printable(*said)), example);
        if (is_cut_by_engines(absolute.string()))
            return input_failure(
                fmt::format("{} {} has a comma or a quote in its path: engines would cut it there", option,
                            text::printable(absolute.string())),
                "move the file to a folder without them");
        *path = absolute.string();
        beside->clear();
    }
    return loaded;
}

RunInput run_input(const Loaded& loaded) {
    return {loaded.matrix, loaded.facts, loaded.judgement, loaded.lock};
}

Result<RunSettings> run_settings(const ImageOptions& options, const Loaded& loaded, const World& world) {
    RunSettings settings;
    CM_TRY_ASSIGN(settings.choice, choice_of(options.choice, loaded.facts, world));
    settings.out = options.out.empty() ? std::filesystem::path("cudamatrix-out") / loaded.matrix.name
                                       : std::filesystem::path(options.out);
    settings.engine = options.engine.name;
    settings.engine_host = options.engine.host;
    settings.builder = options.engine.builder;
    settings.templates = options.templates;
    settings.suite = options.suite;
    settings.level = options.level;
    settings.soak_minutes = options.soak_minutes;
    if (options.level != "quick") settings.test_limit = kDeeperTestLimit;
    if (options.level == "soak") settings.test_limit += std::chrono::minutes(options.soak_minutes);
    settings.require_gpu = options.require_gpu;
    settings.accept_static = options.accept_static;
    settings.strict = options.strict;
    settings.locked = options.locked;
    settings.jobs = options.jobs;
    settings.run_id = world.run_id;
    settings.today = world.today;
    settings.judged_on = loaded.today;
    settings.environment = world.environment;
    settings.cancellation = world.cancellation;
    settings.keep_going = !options.fail_fast;
    settings.retries = options.retries;
    if (options.build_minutes != 0) settings.build_limit = std::chrono::minutes(options.build_minutes);
    if (options.test_minutes != 0) settings.test_limit = std::chrono::minutes(options.test_minutes);
    settings.screen = screen_of(world);
    return settings;
}

}  // namespace cudamatrix
