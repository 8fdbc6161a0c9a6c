#include "run/engine/save.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cudamatrix::engine {
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
    return begins && text.size() <= kLongestReference && std::all_of(text.begin(), text.end(), fits);
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
