#include "run/engine/engine.hpp"

#include <algorithm>
#include <array>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix::engine {
namespace {

constexpr std::size_t kLongestName = 128;

// A clean-up call: short, never interrupted (it is what an interrupt waits for).
Result<Outcome> call(const Engine& engine, Argv arguments, std::chrono::milliseconds limit) {
    auto command = engine.command(std::move(arguments));
    command.time_limit = limit;
    command.grace = std::chrono::milliseconds(500);
    command.output_limit = 256u << 10;
    return cudamatrix::run(command);
}

bool is_gone(const Result<Outcome>& removed) {
    if (!removed.ok()) return true;  // the client itself cannot be started: nothing more can be done
    return removed->success() || text::lower(removed->err).find("no such container") != std::string::npos;
}

// Stops politely once, then removes by force until the engine agrees that it is gone. A create that was under
// way when the client died may appear late, hence the second look.
void end_container(const Engine& engine, const std::string& name) {
    using std::chrono::milliseconds;
    static_cast<void>(call(engine, engine.dialect->stop(name), milliseconds(4000)));
    for (int round = 0; round < 3; ++round) {
        static_cast<void>(call(engine, engine.dialect->kill(name), milliseconds(1500)));
        if (is_gone(call(engine, engine.dialect->remove(name), milliseconds(2000)))) return;
    }
}

}  // namespace

std::string container_name(std::string_view run_id, std::string_view cell_id) {
    auto name = fmt::format("cudamatrix-{}-{}", run_id, cell_id);
    for (char& c : name) {
        const bool legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '.' || c == '_' || c == '-';
        if (!legal) c = '_';
    }
    if (name.size() > kLongestName) {
        name = name.substr(0, kLongestName - 13) + "-" + sha256(name).substr(0, 12);
    }
    return name;
}

Result<Outcome> run_container(const Engine& engine, const RunRequest& request, const RunLimits& limits,
                              const Cancellation* cancellation,
                              const std::function<void(std::string_view, bool)>& on_line) {
    auto arguments = engine.dialect->run(request);
    if (const auto forbidden = forbidden_argument(arguments)) {
        return environment_failure(
            fmt::format("refused to start a container with {}", text::printable(*forbidden)));
    }
    auto command = engine.command(std::move(arguments));
    command.time_limit = limits.time;
    command.grace = std::chrono::seconds(3);
    command.output_limit = limits.output;
    command.stop_on_flood = true;
    command.on_line = on_line;
    auto outcome = cudamatrix::run(command, cancellation);
    // --rm did its work when the client saw the container end by itself; every other end is made sure of
    // here.
    if (!outcome.ok() || outcome->how != Ended::exited) end_container(engine, request.name);
    return outcome;
}

void sweep(const Engine& engine, std::string_view run_id) {
    const auto label = fmt::format("{}={}", kRunLabel, run_id);
    const auto listed = call(engine, engine.dialect->list(label), std::chrono::seconds(5));
    if (!listed.ok()) return;
    for (const auto& each : read_list(listed->out))
        static_cast<void>(call(engine, engine.dialect->remove(each.id), std::chrono::seconds(3)));
}

namespace {

// Engines that write an image to a standard output that is no terminal; both take the same words.
constexpr std::array<std::string_view, 2> kSavers{"docker", "podman"};
constexpr std::size_t kLongestReference = 512;

// What no reference holds, an option among them, never reaches a command line.
bool is_reference(std::string_view text) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._/:@-").find(c) != std::string_view::npos;
    };
    const bool begins = !text.empty() && fits(text.front()) &&
                        std::string_view("._/:@-").find(text.front()) == std::string_view::npos;
    return begins && text.size() <= kLongestReference && std::ranges::all_of(text, fits);
}

}  // namespace

std::optional<StoredImage> parse_stored_image(std::string_view target) {
    for (const auto engine : kSavers) {
        if (target.size() > engine.size() && target.starts_with(engine) && target[engine.size()] == ':')
            return StoredImage{std::string(engine), std::string(target.substr(engine.size() + 1))};
    }
    return std::nullopt;
}

Result<Command> save_command(const StoredImage& image, const Environment& environment) {
    if (!is_reference(image.reference))
        return input_failure(
            fmt::format("'{}' is not an image name", text::printable(image.reference)),
            fmt::format("{}:NAME[:TAG], {}:NAME@sha256:HEX or an image's id", image.engine, image.engine));
    const auto program = find_program(image.engine, environment);
    if (!program)
        return environment_failure(
            fmt::format("{}:{}: no program {} on PATH", image.engine, image.reference, image.engine),
            "install it, or name a tar that it has written with `save`, or an OCI image layout");
    Command command;
    command.argv = {*program, "image", "save", image.reference};
    command.environment = environment;
    command.output_limit = 64U << 10U;  // of its messages
    return command;
}

}  // namespace cudamatrix::engine
