#include "run/engine/engine.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"

namespace cudamatrix::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kAskLimit{20};

// docker's words, and podman's.
bool says_no_image(std::string_view said) {
    return said.find("no such image") != std::string_view::npos ||
           said.find("image not known") != std::string_view::npos;
}

// podman leaves out what the hash is by.
std::string image_id(std::string id) {
    constexpr std::string_view kHash = "sha256:";
    const bool bare = id.size() == 64 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (bare) id.insert(0, kHash);
    return id.starts_with(kHash) ? id : std::string();
}

std::optional<ImageInfo> info_of(const Json& json) {
    ImageInfo info;
    info.id = image_id(string_or(json, "Id"));
    if (info.id.empty()) return std::nullopt;
    if (const auto* size = member(json, "Size"); size != nullptr && size->is_number_unsigned())
        info.bytes = size->get<std::uint64_t>();
    const auto* config = member(json, "Config");
    const auto* labels = config == nullptr ? nullptr : member(*config, "Labels");
    if (labels != nullptr && labels->is_object()) {
        for (const auto& [key, value] : labels->items()) {
            if (value.is_string()) info.labels[key] = value.get<std::string>();
        }
    }
    return info;
}

Command command_of(const Engine& engine, const std::string& program, const Argv& options, Argv arguments) {
    Command command;
    command.argv.reserve(1 + options.size() + arguments.size());
    command.argv.push_back(program);
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    for (auto& argument : arguments)
        command.argv.push_back(std::move(argument));
    command.environment = engine.environment;
    return command;
}

}  // namespace

Command Engine::command(Argv arguments) const {
    return command_of(*this, program, options, std::move(arguments));
}

Command Engine::build_command(BuildRequest request) const {
    request.builder = request.needs_store || builder.empty() ? own_builder : builder;
    const bool by_client = build_program.empty() || build_program == program;
    return command_of(*this, by_client ? program : build_program, by_client ? options : Argv{},
                      dialect->build(request));
}

Result<Outcome> ask(const Engine& engine, Argv arguments, const Cancellation* cancellation) {
    auto command = engine.command(std::move(arguments));
    command.time_limit = kAskLimit;
    command.grace = std::chrono::seconds(1);
    command.output_limit = 1u << 20;
    return cudamatrix::run(command, cancellation);
}

std::string reason_of(const Outcome& outcome) {
    auto said = text::printable(text::split(text::trim(outcome.err), '\n').front());
    return said.empty() ? outcome.describe() : said;
}

std::vector<Listed> read_list(std::string_view answer) {
    std::vector<Listed> out;
    for (const auto& line : text::split(answer, '\n')) {
        const auto row = text::trim(line);
        if (row.empty()) continue;
        const auto blank = std::min(row.find(' '), row.size());
        out.push_back({std::string(row.substr(0, blank)), std::string(text::trim(row.substr(blank)))});
    }
    return out;
}

Result<std::optional<ImageInfo>> inspect(const Engine& engine, std::string_view reference,
                                         const Cancellation* cancellation) {
    CM_TRY_ASSIGN(const auto outcome, ask(engine, engine.dialect->inspect(reference), cancellation));
    if (outcome.how == Ended::cancelled) return Failure{ExitCode::interrupted, {}};
    const auto fail = [&](std::string_view what) {
        return environment_failure(fmt::format("{}: cannot inspect the image {}: {}", engine.name(),
                                               text::printable(reference), what));
    };
    if (!outcome.success()) {
        if (outcome.how == Ended::exited && says_no_image(text::lower(outcome.err))) {
            return std::optional<ImageInfo>{};
        }
        return fail(reason_of(outcome));
    }
    const auto json = parse_json(outcome.out, "image inspect");
    if (!json.ok()) return fail("its answer is not JSON");
    // podman gives a list of one, whatever the format.
    auto info = info_of(json->is_array() && json->size() == 1 ? json->front() : *json);
    if (!info) return fail("its answer has no image id");
    return info;
}

std::optional<fs::path> storage(const Engine& engine, const Cancellation* cancellation) {
    if (engine.remote) return std::nullopt;
    const auto outcome = ask(engine, engine.dialect->storage(), cancellation);
    if (!outcome.ok() || !outcome->success()) return std::nullopt;
    const fs::path folder(std::string(text::trim(outcome->out)));
    std::error_code error;
    if (!folder.is_absolute() || !fs::is_directory(folder, error)) return std::nullopt;
    return folder;
}

}  // namespace cudamatrix::engine
