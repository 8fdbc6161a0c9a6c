// Checks of a machine for GPU work: one probe for each thing. Nothing is installed or changed, and no probe
// needs root. Probes run side by side, and none is waited for longer than the limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "knowledge/facts/facts.hpp"
#include "registry/http.hpp"
#include "report/doctor.hpp"
#include "run/host/host.hpp"

namespace cudamatrix::doctor {

/// Bytes of the file system that holds a folder.
struct Space {
    std::uint64_t all = 0;
    std::uint64_t free = 0;  ///< for this user
};
/// Nothing where it cannot be asked.
using SpaceOf = std::function<std::optional<Space>(const std::filesystem::path&)>;
[[nodiscard]] std::optional<Space> space_of(const std::filesystem::path& folder);

/// What the suite's tests of a machine say here: those that load the driver's libraries and need no kernel.
struct SuiteAnswers {
    Json records = Json::array();  ///< each as a line of the suite
    std::string why_not;           ///< why there is none
};
using AskSuite = std::function<SuiteAnswers(const probe::Machine&)>;
/// Loads libcuda and libnvidia-ml in a copy of this process (base/apart.hpp).
[[nodiscard]] SuiteAnswers ask_suite(const probe::Machine& machine);

/// What is examined, and with what.
struct Subject {
    probe::Machine machine;
    Facts facts;
    std::string today;                     ///< YYYY-MM-DD
    std::string folder;                    ///< the current one
    std::string image;                     ///< a local image in which a GPU is tried; empty: one of ours
    std::optional<HttpOptions> http = {};  ///< without it no site is asked
    std::vector<std::string> registries = {"docker.io", "nvcr.io"};
    std::vector<std::string> only = {};  ///< probes by their names; empty: all
    std::chrono::seconds limit{30};      ///< of all probes together
    SpaceOf space = space_of;
    AskSuite suite = ask_suite;
    std::function<std::chrono::system_clock::time_point()> now = std::chrono::system_clock::now;
};

struct Examined {
    probe::Host host;
    std::vector<DoctorLine> lines;  ///< in the order of the list of probes
};

/// To be called while this process has no other thread. A probe that does not answer keeps its thread and the
/// subject.
[[nodiscard]] Examined examine(const std::shared_ptr<const Subject>& subject);

}  // namespace cudamatrix::doctor
