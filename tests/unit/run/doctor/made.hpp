// Machines as folders, and what `doctor` says of them: whole lines.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "run/doctor/doctor.hpp"
#include "temp_folder.hpp"

namespace cudamatrix::test {

inline constexpr std::string_view kModule =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n";
/// A machine without programs, made of the files that a test puts.
class Made {
  public:
    Made& with(const std::string& name, std::string_view content = "") {
        folder_.put(name, std::string(content));
        return *this;
    }
    Made& module() { return with("proc/driver/nvidia/version", kModule); }
    Made& gpu_on_bus(std::string_view kind = "0x030200\n", std::string_view vendor = "0x10de\n") {
        return with("sys/bus/pci/devices/0000:01:00.0/vendor", vendor)
            .with("sys/bus/pci/devices/0000:01:00.0/class", kind);
    }
    Made& link(const std::string& name, const std::string& target) {
        std::filesystem::create_directories((folder_ / name).parent_path());
        std::filesystem::create_symlink(target, folder_ / name);
        return *this;
    }
    Made& variable(const std::string& name, const std::string& value) {
        environment_[name] = value;
        return *this;
    }
    Made& space(std::optional<doctor::Space> space) {
        space_ = space;
        return *this;
    }
    /// A line of the suite, as its program prints it.
    Made& suite(std::string_view record) {
        const auto parsed = parse_json(record, "record");
        REQUIRE(parsed.ok());
        answers_.records.push_back(*parsed);
        return *this;
    }
    Made& silent_suite(const std::string& why) {
        answers_.why_not = why;
        return *this;
    }
    /// Registries and the index are asked, without retries.
    Made& online(std::vector<std::string> registries, const std::string& index, long seconds_ahead = 0) {
        http_ = HttpOptions{};
        http_->attempts = 1;
        registries_ = std::move(registries);
        ahead_ = seconds_ahead;
        return variable("PIP_INDEX_URL", index);
    }
    Made& image(const std::string& name) {
        image_ = name;
        return *this;
    }
    [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] doctor::Examined examined() const {
        auto subject = std::make_shared<doctor::Subject>(doctor::Subject{
            {.environment = environment_, .root = folder_.path(), .arch = "x86_64", .glibc = "2.36"},
            Facts::embedded(),
            "2026-11-28",
            folder_.path().string(),
            image_});
        subject->http = http_;
        subject->registries = registries_;
        subject->space = [space = space_](const std::filesystem::path&) { return space; };
        subject->suite = [answers = answers_](const probe::Machine&) { return answers; };
        subject->now = [ahead = ahead_] {
            return std::chrono::system_clock::now() + std::chrono::seconds(ahead);
        };
        return doctor::examine(subject);
    }
    /// "HEALTH: FOUND | FIX | DOCUMENT" of each line of one probe.
    [[nodiscard]] std::vector<std::string> says(std::string_view probe) const {
        std::vector<std::string> out;
        for (const auto& line : examined().lines) {
            if (line.probe == probe)
                out.push_back(fmt::format("{}: {} | {} | {}", to_string(line.health), line.found, line.fix,
                                          line.document));
        }
        return out;
    }

  private:
    test::TempFolder folder_;
    Environment environment_{{"PATH", (folder_ / "bin").string()}};  // none would be the system's own
    std::optional<doctor::Space> space_ = doctor::Space{80'000'000'000, 80'000'000'000};
    doctor::SuiteAnswers answers_;
    std::optional<HttpOptions> http_;
    std::vector<std::string> registries_;
    std::string image_;
    long ahead_ = 0;
};

using Says = std::vector<std::string>;

}  // namespace cudamatrix::test
