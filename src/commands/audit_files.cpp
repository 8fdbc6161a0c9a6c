#include "commands/audit_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <system_error>

#include "base/file.hpp"
#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestAudited = 16u << 20;
constexpr std::string_view kStdin = "-";

constexpr std::array kMachine{FieldHelp{Field::driver, "The host's driver: 550.54.15, or a branch (570)"},
                              FieldHelp{Field::gpu, "The GPU: T4, \"RTX 4090\""},
                              FieldHelp{Field::compute, "Its compute capability: 8.6"},
                              FieldHelp{Field::toolkit, "Version of nvidia-container-toolkit on the host"},
                              FieldHelp{Field::arch, "Processor that the images are for: x86_64 or aarch64"}};

audit::ReadFile read_if_there() {
    return [](const std::filesystem::path& path) -> std::optional<std::string> {
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error)) return {};
        auto text = file::read(path, kLargestAudited);
        return text.ok() ? std::optional(std::move(text).value()) : std::nullopt;
    };
}

}  // namespace

void AuditedMachine::add(const Arguments& app) {
    for (std::size_t i = 0; i < kMachine.size(); ++i)
        add_field(app, kMachine[i], texts[i]);
}

bool AuditedMachine::is_given() const {
    return std::ranges::any_of(texts, [](const std::string& text) { return !text.empty(); });
}

Result<std::vector<std::pair<Field, Value>>> AuditedMachine::values(const Facts& facts,
                                                                    const World& world) const {
    const auto spelling = said_spellings(facts, world);
    std::vector<std::pair<Field, Value>> out;
    for (std::size_t i = 0; i < kMachine.size(); ++i) {
        const auto& written = texts[i];
        if (written.empty()) continue;
        const auto field = kMachine[i].field;
        const auto meant = spelling(field, written);
        auto value = value_from_text(field, meant.empty() ? written : meant);
        if (const auto* problem = std::get_if<ValueProblem>(&value))
            return input_failure(fmt::format("--{}: {}", info(field).name, problem->message), problem->fix);
        auto made = std::get<Value>(std::move(value));
        made.where.file = fmt::format("--{}", info(field).name);
        out.emplace_back(field, std::move(made));
    }
    return out;
}

Result<Audited> read_audited(const std::vector<std::string>& paths) {
    Audited out;
    const auto add = [&](const std::filesystem::path& path) -> Status {
        CM_TRY_ASSIGN(auto text, file::read(path, kLargestAudited));
        out.files.push_back({path.lexically_normal().generic_string(), std::move(text)});
        return Done{};
    };
    for (const auto& named : paths) {
        std::error_code error;
        if (named == kStdin) {
            out.files.push_back(
                {std::string(kStdin), std::string(std::istreambuf_iterator<char>(std::cin), {})});
        } else if (std::filesystem::is_directory(named, error)) {
            CM_TRY_ASSIGN(const auto below, audit::files_below(named));
            for (const auto& path : below) {
                CM_TRY(add(path));
            }
            if (below.empty())
                return input_failure(
                    fmt::format(
                        "{} holds no Dockerfile, compose file, requirements, lock file or environment",
                        text::printable(named)),
                    "name a file");
        } else if (std::filesystem::exists(named, error)) {
            CM_TRY(add(named));
        } else if (const auto image = parse_image_reference(named);
                   image.ok() && named.find(':') != std::string::npos) {
            out.images.push_back(named);
        } else {
            return input_failure(
                fmt::format("{}: no such file, and no image with a tag", text::printable(named)),
                "name a file, a folder, an image (nvidia/cuda:12.4.1-devel-ubuntu22.04), or - for the standard input");
        }
    }
    return out;
}

audit::Report Audited::report(const Facts& facts, const audit::Options& how) const {
    auto found = audit::read_stacks(files, facts, how, read_if_there());
    for (const auto& image : images)
        found.stacks.push_back(audit::stack_of_image(image, facts, how));
    return found;
}

}  // namespace cudamatrix
