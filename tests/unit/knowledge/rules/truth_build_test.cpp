// Truth tables of the build stage: host compilers, the C library, interfaces, majors, lists of architectures.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/text.hpp"
#include "truth_table.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;
using naive::doubtful;
using naive::lists;
using naive::number;

namespace {

std::optional<Row> toolkit_of(const Facts& facts, const Row& release) {
    for (const auto& toolkit : facts.rows("cuda_toolkits")) {
        if (toolkit.text("cuda") == release.text("minor")) return toolkit;
    }
    return std::nullopt;
}

std::optional<Row> extensions_of(const Facts& facts, std::string_view torch) {
    for (const auto& row : facts.rows("torch_extensions")) {
        if (row.text("torch") == torch) return row;
    }
    return std::nullopt;
}

int plain(const Row& row, std::string_view column) {
    return std::atoi(std::string(row.text(column)).c_str());
}

}  // namespace

// The newest gcc by hand, from what is generally known of each toolkit; clang and the lower ends by the rows.
TEST_CASE("truth table: compiler-supported-by-cuda, every release and major of gcc and clang") {
    const std::map<int, int> newest_gcc{
        {800, 5},   {900, 6},   {901, 6},   {902, 7},   {1000, 7},  {1001, 8},  {1002, 8},
        {1100, 9},  {1101, 10}, {1102, 10}, {1103, 10}, {1104, 11}, {1105, 11}, {1106, 11},
        {1107, 11}, {1108, 11}, {1200, 12}, {1201, 12}, {1202, 12}, {1203, 12}, {1204, 13},
        {1205, 13}, {1206, 13}, {1208, 14}, {1209, 14}, {1300, 15}};
    TruthTable table("compiler-supported-by-cuda");
    std::size_t by_hand = 0;
    for (const auto& release : table.facts().rows("cuda_releases")) {
        const auto toolkit = *toolkit_of(table.facts(), release);
        for (const std::string name : {"gcc", "clang"}) {
            auto most = plain(release.has(name + "_max") ? release : toolkit, name + "_max");
            const auto least = plain(toolkit, name + "_min");
            if (const auto known = newest_gcc.find(number(release.text("cuda")));
                known != newest_gcc.end() && name == "gcc") {
                // gcc 11 came with the first update of 11.4.
                most = release.text("cuda") == "11.4.0" ? 10 : known->second;
                ++by_hand;
            }
            for (int major = 3; major < 24; ++major) {
                auto expected = major > most || major < least ? Verdict::rejected : Verdict::accepted;
                if (most == 0 || doubtful(toolkit)) expected = Verdict::unknown;
                // 3.8 to 3.9, and 5.3 of CUDA 8.0.44: a major may lie within or not.
                const bool split = (name == "clang" && major == 3 && least == 3) ||
                                   (name == "gcc" && major == 5 && release.text("cuda") == "8.0.44");
                if (split) expected = Verdict::unknown;
                table.expect({{Field::cuda, std::string(release.text("cuda"))},
                              {Field::compiler, fmt::format("{}-{}", name, major)}},
                             expected);
            }
        }
    }
    table.finish(2'000);
    CHECK(by_hand > 40);
}

TEST_CASE("truth table: glibc-supported-by-cuda, every release, glibc and system") {
    TruthTable table("glibc-supported-by-cuda");
    const auto& facts = table.facts();
    for (const auto& release : facts.rows("cuda_releases")) {
        const std::string cuda(release.text("cuda"));
        std::optional<Row> limit;
        for (const auto& row : facts.rows("cuda_glibc")) {
            if (row.has("arch")) continue;  // no cell here names a processor
            if (number(row.text("cuda_first")) <= number(cuda) &&
                number(cuda) <= number(row.text("cuda_last")))
                limit = row;
        }
        const auto verdict = [&](int glibc, std::string_view os) {
            if (!limit || doubtful(limit)) return Verdict::unknown;
            // No cell here says whose toolkit it is: a note.
            if (!os.empty() && limit->text("works_on") == os && limit->text("works_cuda") == cuda)
                return Verdict::accepted;
            if (limit->has("glibc_min") && glibc < number(limit->text("glibc_min"))) return Verdict::degraded;
            return limit->has("glibc_max") && glibc > number(limit->text("glibc_max")) ? Verdict::rejected
                                                                                       : Verdict::accepted;
        };
        for (int minor = 17; minor < 46; ++minor) {
            table.expect({{Field::cuda, cuda}, {Field::glibc, fmt::format("2.{}", minor)}},
                         verdict(200 + minor, {}));
        }
        for (const auto& os : facts.rows("operating_systems")) {
            auto expected = os.has("glibc") && !doubtful(os)
                                ? verdict(number(os.text("glibc")), os.text("os"))
                                : Verdict::unknown;
            if (os.has("wheels")) expected = Verdict::accepted;  // Windows, macOS
            table.expect({{Field::cuda, cuda}, {Field::os, std::string(os.text("os"))}}, expected);
        }
    }
    table.finish(3'000);
}

TEST_CASE("truth table: toolkit-matches-torch-cuda, every wheel, toolkit and flavour") {
    TruthTable table("toolkit-matches-torch-cuda");
    const auto& facts = table.facts();
    for (const auto& wheel : facts.rows("torch_wheels")) {
        if (wheel.text("arch") != "x86_64") continue;
        const auto extensions = extensions_of(facts, wheel.text("torch"));
        for (const auto& toolkit : facts.rows("cuda_toolkits")) {
            if (!toolkit.has("newest")) continue;
            const bool same =
                !wheel.has("cuda") || number(wheel.text("cuda")) / 100 == number(toolkit.text("cuda")) / 100;
            for (const std::string flavour : {"", "devel", "runtime"}) {
                auto expected = Verdict::accepted;
                if (!same && flavour != "runtime") {
                    expected = !extensions || doubtful(extensions) || doubtful(wheel) ? Verdict::unknown
                               : flavour == "devel" && extensions->text("checks_cuda") == "true"
                                   ? Verdict::rejected
                                   : Verdict::degraded;
                }
                Words words{{Field::torch, fmt::format("{}+{}", wheel.text("torch"), wheel.text("variant"))},
                            {Field::cuda, std::string(toolkit.text("newest"))}};
                if (!flavour.empty()) words.emplace_back(Field::flavour, flavour);
                table.expect(words, expected);
            }
        }
    }
    table.finish(10'000);
}

TEST_CASE("truth table: torch-takes-compiler, every release and major of gcc") {
    TruthTable table("torch-takes-compiler");
    const auto& facts = table.facts();
    for (const auto& release : facts.rows("torch_releases")) {
        const auto extensions = extensions_of(facts, release.text("torch"));
        for (int major = 3; major < 18; ++major) {
            auto expected = Verdict::unknown;
            if (extensions && !doubtful(extensions)) {
                const bool old = major < plain(*extensions, "gcc_min");
                const bool limited = major < plain(*extensions, "gcc_by_default");
                expected = old ? Verdict::rejected : limited ? Verdict::degraded : Verdict::accepted;
            } else if (extensions && major >= std::max(plain(*extensions, "gcc_min"),
                                                       plain(*extensions, "gcc_by_default"))) {
                expected = Verdict::accepted;  // nothing is said, so nothing is doubted
            }
            const auto variant = release.list("variants").front();
            table.expect({{Field::torch, fmt::format("{}+{}", release.text("torch"), variant)},
                          {Field::compiler, fmt::format("gcc-{}", major)}},
                         expected);
        }
    }
    table.finish(700);
}

TEST_CASE("truth table: apis-available, every interface with every torch and toolkit") {
    TruthTable table("apis-available");
    const auto& facts = table.facts();
    for (const auto& api : facts.rows("removed_apis")) {
        const std::string word(api.text("api"));
        const auto verdict = [&](std::string_view column, std::string_view version) {
            if (!api.has(column) || naive::whole(version) < naive::whole(api.text(column)))
                return Verdict::accepted;
            return doubtful(api) ? Verdict::unknown : Verdict::rejected;
        };
        for (const auto& release : facts.rows("torch_releases")) {
            table.expect({{Field::torch, std::string(release.text("torch"))}, {Field::uses, word}},
                         verdict("removed_in_torch", release.text("torch")));
        }
        for (const auto& release : facts.rows("cuda_releases")) {
            table.expect({{Field::cuda, std::string(release.text("cuda"))}, {Field::uses, word}},
                         verdict("removed_in_cuda", release.text("cuda")));
        }
    }
    table.finish(1'500);
}

TEST_CASE("truth table: arch-list-known, every entry with every toolkit and torch") {
    TruthTable table("arch-list-known");
    const auto& facts = table.facts();
    std::vector<std::string> entries;
    for (const auto& architecture : facts.rows("architectures")) {
        for (const auto compute : architecture.list("compute"))
            entries.emplace_back(compute);
    }
    for (const auto* special : {"9.0a", "10.0a", "12.0f"})
        entries.emplace_back(special);
    for (const auto& entry : entries) {
        for (const std::string ptx : {"", "+PTX"}) {
            for (const auto& release : facts.rows("cuda_releases")) {
                const auto toolkit = *toolkit_of(facts, release);
                auto expected = lists(toolkit, "targets", entry) ? Verdict::accepted : Verdict::rejected;
                if (expected == Verdict::rejected && doubtful(toolkit)) expected = Verdict::unknown;
                table.expect(
                    {{Field::arch_list, entry + ptx}, {Field::cuda, std::string(release.text("cuda"))}},
                    expected);
            }
            for (const auto& row : facts.rows("torch_extensions")) {
                auto expected =
                    !row.has("arches") || lists(row, "arches", entry) ? Verdict::accepted : Verdict::rejected;
                if (expected == Verdict::rejected && doubtful(row)) expected = Verdict::unknown;
                table.expect(
                    {{Field::arch_list, entry + ptx}, {Field::torch, std::string(row.text("torch"))}},
                    expected);
            }
        }
    }
    table.finish(5'000);
}

TEST_CASE("truth table: arch-list-covers-gpu, every pair of entries on every GPU of desktops and servers") {
    TruthTable table("arch-list-covers-gpu");
    for (const auto first : naive::kDevices) {
        for (const auto second : naive::kDevices) {
            for (const bool ptx : {false, true}) {
                for (const auto device : naive::kDevices) {
                    auto expected = Verdict::rejected;
                    if (ptx && second <= device) expected = Verdict::degraded;
                    if (naive::runs(first, device) || naive::runs(second, device))
                        expected = Verdict::accepted;
                    table.expect({{Field::arch_list, naive::compute_text(first) + ";" +
                                                         naive::compute_text(second) + (ptx ? "+PTX" : "")},
                                  {Field::compute, naive::compute_text(device)}},
                                 expected);
                }
            }
        }
    }
    table.finish(8'000);
}
