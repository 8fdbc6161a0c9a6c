#include "kernels/stress/leak.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "kernels/compute/check.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

constexpr double kMiB = 1024 * 1024;

double mib(std::size_t bytes) {
    return static_cast<double>(bytes) / kMiB;
}

/// MiB that were there before and are not now.
double lost(std::size_t before, std::size_t now) {
    return mib(before) - mib(now);
}

json::Value to_json(const LeakFacts& facts) {
    json::Value list = json::Value::array();
    for (const LeakSample& sample : facts.samples) {
        json::Value entry = json::Value::object();
        entry.set("device_free_bytes", static_cast<unsigned long>(sample.free));
        entry.set("host_bytes", static_cast<unsigned long>(sample.host));
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace

std::uint32_t leak_word(std::size_t i, int cycle) {
    return static_cast<std::uint32_t>(i) * 0x9e3779b1U + static_cast<std::uint32_t>(cycle) * 0x85ebca6bU + 1U;
}

std::size_t resident_bytes(const std::string& status) {
    const std::string name = "\nVmRSS:";
    const std::size_t at = ("\n" + status).find(name);
    if (at == std::string::npos) return 0;
    constexpr std::size_t kKiB = 1024;
    return std::strtoul(("\n" + status).c_str() + at + name.size(), nullptr, 10) * kKiB;
}

std::size_t resident_bytes() {
    std::ifstream in("/proc/self/status");
    return resident_bytes(
        std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>()));
}

Record leak_check(const LeakFacts& facts, const char* backend) {
    Record record;
    check_ran(record, facts.flag, (kLeakWarmUp + kLeakCycles) * kLeakBlocks);
    record.check("cycles", facts.cycles == kLeakCycles, std::to_string(facts.cycles) + " came to their end");
    record.check("exact", facts.wrong == 0, std::to_string(facts.wrong) + " words are wrong");
    const auto& [begin, half, end] = facts.samples;
    record.check("host_memory_known", begin.host != 0 && end.host != 0, "VmRSS cannot be read");
    const std::size_t before = record.checks.size();
    const double first = lost(begin.free, half.free);
    const double second = lost(half.free, end.free);
    record.check_limit("device_mib_lost", first > 0 && second > 0 ? first + second : 0, kLeakDeviceLimit);
    record.check_limit("host_mib_grown", -lost(begin.host, end.host), kLeakHostLimit);
    const bool leaks = !record.checks[before].ok || !record.checks[before + 1].ok;
    record = judge(record, "leak", std::to_string(kLeakCycles) + " cycles, nothing lost (" + backend + ")");
    if (record.status == Status::fail && leaks) record.fault = "F20";
    add_evidence(record, "memory", to_json(facts));
    return record;
}

}  // namespace cudamatrix::suite
