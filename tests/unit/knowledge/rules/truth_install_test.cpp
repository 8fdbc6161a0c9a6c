// Truth tables of the install stage: wheels of torch by CUDA, machine, python and C library, and the toolkits
// of a family.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "truth_table.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;
using naive::doubtful;
using naive::lists;
using naive::number;

namespace {

// 124 of cu124, 0 of cpu.
int cuda_of(std::string_view variant) {
    return variant.starts_with("cu") ? std::atoi(std::string(variant.substr(2)).c_str()) : 0;
}

// Every variant that any release has, and some that none has.
std::set<std::string> variants(const Facts& facts) {
    std::set<std::string> out{"cu75", "cu112", "cu127", "cu131", "cu134", "cu135", "cu136", "cpu"};
    for (const auto& release : facts.rows("torch_releases")) {
        for (const auto variant : release.list("variants"))
            out.emplace(variant);
    }
    return out;
}

// Below the newest CUDA that has an index, and without one of its own; or known to have none.
bool lacks_index(const Facts& facts, const std::string& variant) {
    int newest = 0;
    for (const auto& index : facts.rows("absent_wheel_indexes")) {
        if (index.text("name") == variant) return true;
    }
    for (const auto& index : facts.rows("wheel_indexes")) {
        if (index.text("name") == variant) return false;
        newest = std::max(newest, cuda_of(index.text("name")));
    }
    return cuda_of(variant) > 0 && cuda_of(variant) < newest;
}

std::optional<Row> wheel_of(const Facts& facts, std::string_view torch, std::string_view variant,
                            std::string_view arch) {
    for (const auto& wheel : facts.rows("torch_wheels")) {
        if (wheel.text("torch") == torch && wheel.text("variant") == variant && wheel.text("arch") == arch)
            return wheel;
    }
    return std::nullopt;
}

// Every known release of the variant's CUDA came out after the torch.
bool too_early(const Facts& facts, const Row& release, const std::string& variant) {
    bool any = false;
    for (const auto& cuda : facts.rows("cuda_releases")) {
        const auto minor = cuda.text("minor");
        const auto dot = minor.find('.');
        if ("cu" + std::string(minor.substr(0, dot)) + std::string(minor.substr(dot + 1)) != variant)
            continue;
        if (cuda.text("released") <= release.text("released")) return false;
        any = true;
    }
    return any;
}

// The variant that a torch without one gets; empty where nothing says it.
std::string by_default(const Facts& facts, const Row& release, std::string_view arch) {
    for (const auto& wheel : facts.rows("torch_wheels")) {
        if (wheel.text("torch") == release.text("torch") && wheel.text("arch") == arch &&
            wheel.text("default_index") == "true")
            return std::string(wheel.text("variant"));
    }
    return arch == "x86_64" ? std::string(release.text("default_variant")) : std::string();
}

bool never_was(const Row& release, const std::string& variant) {
    return release.text("complete") == "true" && !lists(release, "variants", variant);
}

}  // namespace

TEST_CASE("truth table: wheel-index-exists and torch-built-for-cuda, every release, variant and machine") {
    TruthTable index("wheel-index-exists"), built("torch-built-for-cuda");
    const auto& facts = index.facts();
    for (const auto& release : facts.rows("torch_releases")) {
        const std::string torch(release.text("torch"));
        for (const std::string arch : {"x86_64", "aarch64"}) {
            for (const auto& variant : variants(facts)) {
                const Words words{{Field::torch, torch + "+" + variant}, {Field::arch, arch}};
                const bool no_index = lacks_index(facts, variant);
                index.expect(words, no_index ? Verdict::rejected : Verdict::accepted);
                const auto wheel = wheel_of(facts, torch, variant, arch);
                auto expected = Verdict::unknown;
                if (no_index) {
                    expected = Verdict::accepted;
                } else if (wheel) {
                    if (!doubtful(wheel) && !doubtful(release)) expected = Verdict::accepted;
                } else if ((never_was(release, variant) || too_early(facts, release, variant)) &&
                           !doubtful(release)) {
                    expected = Verdict::rejected;
                }
                built.expect(words, expected);
            }
        }
    }
    index.finish(2'000);
    built.finish(2'000);
}

TEST_CASE(
    "truth table: torch-published-for-arch, every release bare and by variant, with and without a GPU") {
    TruthTable table("torch-published-for-arch");
    const auto& facts = table.facts();
    for (const auto& release : facts.rows("torch_releases")) {
        const std::string torch(release.text("torch"));
        for (const std::string arch : {"x86_64", "aarch64", "ppc64le"}) {
            for (const bool with_gpu : {false, true}) {
                Words bare{{Field::torch, torch}, {Field::arch, arch}};
                if (with_gpu) bare.emplace_back(Field::gpu, "H100");
                const auto variant = by_default(facts, release, arch);
                const auto wheel = wheel_of(facts, torch, variant, arch);
                const auto usual = release.text("default_variant");
                auto expected = Verdict::accepted;
                if (variant.empty() && lists(release, "no_wheels_for", arch)) {
                    expected = doubtful(release) ? Verdict::unknown : Verdict::rejected;
                } else if (wheel && variant == "cpu" && !usual.empty() && usual != "cpu") {
                    expected = doubtful(release) || doubtful(wheel) ? Verdict::unknown
                               : with_gpu                           ? Verdict::rejected
                                                                    : Verdict::degraded;
                }
                table.expect(bare, expected);
                for (const auto named : release.list("variants")) {
                    auto words = bare;
                    words[0].second = torch + "+" + std::string(named);
                    table.expect(words, Verdict::accepted);
                }
            }
        }
    }
    table.finish(1'400);
}

TEST_CASE("truth table: torch-supports-python, every wheel and python") {
    TruthTable table("torch-supports-python");
    const auto& facts = table.facts();
    std::vector<std::string> pythons;
    for (const auto& python : facts.rows("pythons")) {
        const std::string text(python.text("python"));
        pythons.push_back(text);
        if (number(text) >= 313) pythons.push_back(text + "t");
    }
    for (const auto& release : facts.rows("torch_releases")) {
        for (const auto variant : release.list("variants")) {
            for (const std::string arch : {"x86_64", "aarch64"}) {
                const auto wheel = wheel_of(facts, release.text("torch"), variant, arch);
                for (const auto& python : pythons) {
                    auto expected = Verdict::unknown;
                    if (wheel && !lists(*wheel, "pythons_unverified", python) && !doubtful(wheel))
                        expected = lists(*wheel, "pythons", python) ? Verdict::accepted : Verdict::rejected;
                    table.expect({{Field::torch, fmt::format("{}+{}", release.text("torch"), variant)},
                                  {Field::python, python},
                                  {Field::arch, arch}},
                                 expected);
                }
            }
        }
    }
    table.finish(5'000);
}

TEST_CASE("truth table: wheel-runs-on-libc, every wheel and system") {
    TruthTable table("wheel-runs-on-libc");
    const auto& facts = table.facts();
    for (const auto& wheel : facts.rows("torch_wheels")) {
        int highest = 0;
        for (const auto& other : facts.rows("torch_wheels")) {
            if (other.text("torch") == wheel.text("torch") && other.text("arch") == wheel.text("arch"))
                highest = std::max(highest, number(other.text("glibc")));
        }
        for (const auto& os : facts.rows("operating_systems")) {
            const auto glibc = number(os.text("glibc"));
            const auto floor = number(wheel.text("glibc"));
            auto expected = Verdict::accepted;
            if (os.has("wheels")) {
                // Windows and macOS have no C library of Linux.
            } else if (os.text("libc") == "musl") {
                expected = Verdict::rejected;
            } else if (!os.has("glibc")) {
                expected = Verdict::unknown;
            } else if (floor == 0) {
                expected = highest > 0 && glibc >= highest ? Verdict::accepted : Verdict::unknown;
            } else if (glibc < floor) {
                expected = Verdict::rejected;
            }
            if (!os.has("wheels") && (doubtful(wheel) || doubtful(os))) expected = Verdict::unknown;
            table.expect({{Field::torch, fmt::format("{}+{}", wheel.text("torch"), wheel.text("variant"))},
                          {Field::arch, std::string(wheel.text("arch"))},
                          {Field::os, std::string(os.text("os"))}},
                         expected);
        }
    }
    table.finish(5'000);
}

TEST_CASE("truth table: toolkit-available, every family, system, release and place") {
    TruthTable table("toolkit-available");
    const auto& facts = table.facts();
    for (const std::string family : {"debian", "cpu"}) {
        for (const auto& os : facts.rows("operating_systems")) {
            for (const auto& release : facts.rows("cuda_releases")) {
                for (const std::string from : {"", "archive", "wheels"}) {
                    std::optional<Row> source;
                    for (const auto& row : facts.rows("toolkit_sources")) {
                        const bool here = !row.has("os") || lists(row, "os", os.text("os"));
                        const bool place = from.empty() || row.text("cuda_from") == from;
                        if (row.text("family") != family || row.text("cuda") != release.text("cuda") ||
                            !here || !place)
                            continue;
                        if (!source || row.text("cuda_from") == "archive") source = row;
                    }
                    auto expected = source ? Verdict::accepted : Verdict::rejected;
                    if (doubtful(source)) expected = Verdict::unknown;
                    Words words{{Field::family, family},
                                {Field::os, std::string(os.text("os"))},
                                {Field::cuda, std::string(release.text("cuda"))}};
                    if (!from.empty()) words.emplace_back(Field::cuda_from, from);
                    table.expect(words, expected);
                }
            }
        }
    }
    table.finish(5'000);
}

TEST_CASE("truth table: end-of-life, every row that has an end, on the days around it") {
    const auto past = [](std::string_view end, std::string_view day) {
        // A month means its last day.
        return !end.empty() && std::string(end) + (end.size() == 7 ? "-31" : "") < day;
    };
    for (const std::string day : {"2019-12-31", "2024-06-30", "2024-07-20", "2024-07-21", "2026-06-30",
                                  "2026-07-01", "2026-11-21", "2040-01-01"}) {
        TruthTable table("end-of-life", day);
        const auto& facts = table.facts();
        const auto verdict = [&](const Row& row, std::string_view end) {
            if (doubtful(row)) return Verdict::unknown;
            return past(end, day) ? Verdict::degraded : Verdict::accepted;
        };
        // By hand: the branches of long support and the last day of each.
        const std::map<int, std::string> lasting{
            {418, "2022-03-31"}, {450, "2023-07-31"}, {470, "2024-07-20"}, {535, "2026-06-30"}};
        for (const auto& row : facts.rows("driver_branches")) {
            const int branch = std::atoi(std::string(row.text("branch")).c_str());
            auto expected = verdict(row, row.text("eol"));
            if (!row.has("eol")) {
                expected = Verdict::accepted;  // with a note
                for (const auto& other : facts.rows("driver_branches")) {
                    const bool follows = std::atoi(std::string(other.text("branch")).c_str()) > branch;
                    const bool lasts = row.text("type") == "long-lived";
                    if (follows && !lasts && past(other.text("eol"), day)) expected = Verdict::degraded;
                }
                for (const auto& [other, end] : lasting) {
                    if (other > branch && past(end, day)) expected = Verdict::degraded;
                }
            }
            table.expect({{Field::driver, std::string(row.text("branch"))}}, expected);
        }
        for (const auto& row : facts.rows("pythons"))
            table.expect({{Field::python, std::string(row.text("python"))}}, verdict(row, row.text("eol")));
        for (const auto& row : facts.rows("operating_systems")) {
            // Standard support is over, the longer one is not: a note, whatever the row rests on.
            const bool extended =
                row.has("lts_eol") && past(row.text("eol"), day) && !past(row.text("lts_eol"), day);
            table.expect({{Field::os, std::string(row.text("os"))}},
                         extended && !doubtful(row)
                             ? Verdict::accepted
                             : verdict(row, row.text(row.has("lts_eol") ? "lts_eol" : "eol")));
        }
        for (const auto& row : facts.rows("cuda_releases")) {
            std::optional<Row> said = row;
            if (!row.has("eol")) {
                for (const auto& toolkit : facts.rows("cuda_toolkits")) {
                    if (toolkit.text("cuda") == row.text("minor")) said = toolkit;
                }
            }
            table.expect({{Field::cuda, std::string(row.text("cuda"))}}, verdict(*said, said->text("eol")));
        }
        table.finish(140);
    }
}
