// Compat libraries (cuda_compat): with the driver, with the hardware, and what they let a driver run.
#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kMatches = "cuda-compat-matches-driver";
constexpr std::string_view kHardware = "forward-compatibility-hardware";
constexpr std::string_view kRuns = "driver-supports-cuda";

Words with(std::string driver, std::string compat) {
    return {{Field::driver, driver}, {Field::cuda_compat, compat}};
}
Words on(std::string driver, std::string compat, std::string gpu) {
    return {{Field::driver, driver}, {Field::cuda_compat, compat}, {Field::gpu, gpu}};
}
Words runs(std::string driver, std::string cuda, std::string compat) {
    return {{Field::driver, driver}, {Field::cuda, cuda}, {Field::cuda_compat, compat}};
}

}  // namespace

TEST_CASE("cuda-compat-matches-driver: older than the driver, or not for its branch") {
    CHECK(message_of(kMatches, with("580.95.05", "12.4")) ==
          "the compat libraries of CUDA 12.4 are older than driver 580.95.05 (CUDA 13.0): "
          "nvidia-container-toolkit "
          "leaves them unused, and forced onto the library path they fail with error 803");
    CHECK(verdict_of(kMatches, with("580.95.05", "12.4")) == Verdict::degraded);
    CHECK(message_of(kMatches, with("545.23.06", "13.0")) ==
          "the compat libraries of CUDA 13.0 are not made for driver branch 545, but for 535, 550, 565, 570, "
          "575: "
          "nvidia-container-toolkit 1.19 and newer leaves them unused, and where they are used they fail "
          "with error "
          "803");
    CHECK(fix_of(kMatches, with("545.23.06", "13.0")) == "driver 550");
    CHECK(fix_of(kMatches, with("510.108.03", "12.4.1")) == "driver 525");
    CHECK(message_of(kMatches,
                     {{Field::driver, "551.61"}, {Field::cuda_compat, "12.8"}, {Field::os, "windows"}}) ==
          "the compat libraries of CUDA 12.8 serve Linux drivers only: they do nothing for Windows driver "
          "551.61");
}

TEST_CASE("cuda-compat-matches-driver accepts the branches that the libraries are made for") {
    for (const auto& words : {with("470.161.03", "12.4"), with("525.147.05", "12.4"),
                              with("535.183.01", "12.4.1"), with("535", "13.0"), with("550.54.15", "12.8"),
                              with("570.211.01", "13.1"), with("575.57.08", "13.0"),
                              with("418.197.02", "11.0"), with("R470", "11.8"), with("580.95.05", "13.1")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kMatches, words).empty());
    }
    const auto same = ask(kMatches, with("550.54.15", "12.4"));
    REQUIRE(same.size() == 1);
    CHECK(same[0].severity == Severity::note);
    CHECK(same[0].message ==
          "the compat libraries of CUDA 12.4 add nothing on driver 550.54.15, which is of CUDA 12.4 itself");
}

TEST_CASE("cuda-compat-matches-driver does not guess") {
    CHECK(
        message_of(kMatches, with("580.95.05", "13.5")) ==
        "no fact lists the driver branches of the compat libraries of CUDA 13.5 (the nearest that are known, "
        "of CUDA 13.4, are made for 535, 570, 580, 590, 595, 610): whether the compat libraries of CUDA 13.5 "
        "go "
        "with driver 580.95.05 is unknown");
    CHECK(fix_of(kMatches, with("580.95.05", "13.5")) == "cuda_compat 13.4 (then accepted)");
    CHECK(verdict_of(kMatches, with("550.54.15", "12.7")) == Verdict::unknown);
    CHECK(verdict_of(kMatches, with("550.54.15", "550.54.15")) == Verdict::unknown);
    CHECK(verdict_of(kMatches, with("999.10", "12.4")) == Verdict::unknown);
    // A driver of a CUDA without libraries of its own.
    CHECK(message_of(kMatches, with("550.54.15", "565.77"))
              .starts_with("cuda_compat takes the CUDA version of the libraries, and 565.77 is a driver:"));
    CHECK(verdict_of(kMatches, on("540.5.0", "12.8", "Jetson AGX Orin")) == Verdict::unknown);
    CHECK(ask(kMatches, {{Field::cuda_compat, "12.4"}}).empty());
}

TEST_CASE("forward-compatibility-hardware: GeForce refuses them where they would be used") {
    CHECK(message_of(kHardware, on("535.183.01", "12.4", "RTX 4090")) ==
          "RTX 4090 (class geforce) refuses the compat libraries of CUDA 12.4, which driver 535.183.01 would "
          "need: "
          "error 804, forward compatibility was attempted on non supported HW");
    CHECK(fix_of(kHardware, on("535.183.01", "12.4", "RTX 4090")) ==
          "cuda_compat 12.2, or driver >= 550.40.07");
    CHECK(verdict_of(kHardware, on("470.161.03", "11.8", "TITAN V")) == Verdict::rejected);
    CHECK(verdict_of(kHardware, {{Field::driver, "535.183.01"},
                                 {Field::cuda_compat, "12.4"},
                                 {Field::gpu, "A100"},
                                 {Field::host_class, "geforce"}}) == Verdict::rejected);
    CHECK(message_of(kHardware, {{Field::gpu, "RTX 4090"}, {Field::cuda_compat, "12.4"}}) ==
          "RTX 4090 (class geforce) refuses the compat libraries of CUDA 12.4: beside an older driver they "
          "fail with "
          "error 804, forward compatibility was attempted on non supported HW");
    CHECK(message_of(kHardware, on("535.183.01", "12.4", "RTX A6000")) ==
          "RTX A6000 (class workstation): the compat libraries of CUDA 12.4 accept its brand, but NVIDIA "
          "supports them "
          "on selected server products only");
}

TEST_CASE("forward-compatibility-hardware accepts the data centre, and what does not come into play") {
    for (const auto& words : {on("535.183.01", "12.4", "A100 80GB"), on("470.161.03", "11.8", "T4"),
                              on("535.183.01", "13.0", "H100"), on("550.54.15", "12.4", "RTX 4090"),
                              on("580.95.05", "12.4", "RTX 4090"), on("545.23.06", "13.0", "H100"),
                              Words{{Field::host_class, "datacenter"}, {Field::cuda_compat, "12.4"}},
                              Words{{Field::host_class, "jetson"}, {Field::cuda_compat, "12.4"}},
                              Words{{Field::gpu, "L4"}, {Field::cuda_compat, "12.4"}},
                              Words{{Field::gpu, "RTX 4090"},
                                    {Field::cuda_compat, "12.8"},
                                    {Field::driver, "551.61"},
                                    {Field::os, "windows"}}}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kHardware, words).empty());
    }
}

TEST_CASE("forward-compatibility-hardware: before toolkit 1.19 the branch keeps no libraries out") {
    const auto by = [](std::string toolkit) {
        auto words = on("460.80", "11.3", "GTX 1650");
        words.emplace_back(Field::toolkit, toolkit);
        return words;
    };
    CHECK(
        message_of(kHardware, on("460.80", "11.3", "GTX 1650")) ==
        "GTX 1650 (class geforce) refuses the compat libraries of CUDA 11.3, which nvidia-container-toolkit "
        "before 1.19 uses with driver 460.80: error 804, forward compatibility was attempted on non "
        "supported HW");
    CHECK(ask(kMatches, on("460.80", "11.3", "GTX 1650")).empty());  // one cause, one finding
    CHECK(verdict_of(kHardware, by("1.17.8")) == Verdict::rejected);
    CHECK(ask(kHardware, by("1.19.0")).empty());
    CHECK(verdict_of(kMatches, by("1.19.0")) == Verdict::degraded);
    CHECK(ask(kHardware, on("460.80", "11.3", "T4")).empty());
    CHECK(verdict_of(kMatches, on("460.80", "11.3", "T4")) == Verdict::degraded);
}

TEST_CASE("compat libraries: the number of a driver is not their CUDA") {
    CHECK(
        message_of(kMatches, on("384.111", "410", "Tesla P100")) ==
        "cuda_compat takes the CUDA version of the libraries, and 410 is a driver (did you mean 10.0, whose "
        "libraries are of driver 410?): whether the compat libraries of CUDA 410 go with driver 384.111 is "
        "unknown");
    CHECK(message_of(kMatches, with("535.183.01", "555555")) ==
          "cuda_compat takes the CUDA version of the libraries, and 555555 is a driver: whether the compat "
          "libraries of CUDA 555555 go with driver 535.183.01 is unknown");
    CHECK(ask(kHardware, on("384.111", "410", "GTX 1650")).empty());
    CHECK(verdict_of(kHardware, {{Field::gpu, "GTX 1650"}, {Field::cuda_compat, "410"}}) == Verdict::unknown);
    CHECK(ask(kMatches, on("384.111", "10.0", "Tesla P100")).empty());
}

TEST_CASE("compat-supports-gpu: a branch that dropped the GPU has no libraries for it") {
    constexpr std::string_view kSupports = "compat-supports-gpu";
    CHECK(message_of(kSupports, on("470.161.03", "11.7", "Tesla K80")) ==
          "the compat libraries of CUDA 11.7 are of driver branch 515, which has no Kepler: with driver "
          "470.161.03 the container toolkit puts them to use in place of the driver's own, and they find no "
          "device on Tesla K80 (compute 3.7)");
    CHECK(fix_of(kSupports, on("470.161.03", "11.7", "Tesla K80")) == "cuda_compat 11.4");
    const auto image = [](std::string name, std::string driver, std::string gpu) {
        return Words{{Field::image, name}, {Field::driver, driver}, {Field::gpu, gpu}};
    };
    const std::string k117 = "nvidia/cuda:11.7.1-base-ubuntu20.04";
    CHECK(verdict_of(kSupports, image(k117, "470.161.03", "Tesla K80")) == Verdict::rejected);
    CHECK(fix_of(kSupports, image(k117, "470.161.03", "Tesla K80")) ==
          "image nvidia/cuda:11.4.3-base-ubuntu20.04");
    CHECK(verdict_of(kSupports, image("nvidia/cuda:13.2.1-base-ubuntu24.04", "580.95.05", "V100")) ==
          Verdict::rejected);
    // Not used, of a branch that has the GPU, refused for another reason, or no such image.
    for (const auto& words : {on("470.161.03", "11.4", "Tesla K80"), on("450.80.02", "11.4", "Tesla K80"),
                              on("535.183.01", "13.0", "V100"), on("580.95.05", "13.2", "T4"),
                              on("470.161.03", "11.7", "GTX 780"), on("999.10", "11.7", "Tesla K80"),
                              image("debian:12", "470.161.03", "Tesla K80"),
                              image("nvidia/cuda:11.4.3-base-ubuntu20.04", "470.161.03", "Tesla K80"),
                              image("nvidia/cuda:12.9.1-base-ubuntu22.04", "535.183.01", "V100")}) {
        CAPTURE(words[0].second + " " + words[1].second + " " + words[2].second);
        CHECK(ask(kSupports, words).empty());
    }
    CHECK(message_of(kSupports, on("470.161.03", "11.7", "Tesla K99")) ==
          "no fact knows gpu Tesla K99 (did you mean Tesla K10?): whether the compat libraries of CUDA 11.7 "
          "have support for it is "
          "unknown");
}

TEST_CASE("forward-compatibility-hardware does not guess") {
    CHECK(message_of(kHardware, on("535.183.01", "12.4", "RTX 9090")) ==
          "no fact knows gpu RTX 9090: whether it accepts the compat libraries of CUDA 12.4 is unknown");
    // A driver that no fact knows, libraries that no fact knows: the class alone speaks.
    CHECK(verdict_of(kHardware, on("999.10", "12.4", "RTX 4090")) == Verdict::degraded);
    CHECK(verdict_of(kHardware, on("580.95.05", "13.5", "RTX 4090")) == Verdict::degraded);
    CHECK(verdict_of(kHardware, {{Field::cuda_compat, "12.4"}, {Field::host_class, "console"}}) ==
          Verdict::unknown);
}

TEST_CASE("driver-supports-cuda: compat libraries lift an old driver, with what they need") {
    CHECK(message_of(kRuns, runs("535.183.01", "13.0.2", "13.0")) ==
          "driver 535.183.01 runs CUDA 13.0.2 by the compat libraries of CUDA 13.0 only: the container has "
          "to put them "
          "on its library path, and the GPU has to be of the data centre");
    CHECK(fix_of(kRuns, runs("535.183.01", "13.0.2", "13.0")) == "driver >= 580.65.06");
    CHECK(verdict_of(kRuns, runs("470.161.03", "12.4.1", "12.4")) == Verdict::degraded);
    CHECK(verdict_of(kRuns, runs("470.161.03", "12.9.1", "12.4")) ==
          Verdict::degraded);  // then minor versions apply
    CHECK(verdict_of(kRuns, runs("535.183.01", "12.4.1", "12.4")) == Verdict::degraded);
    CHECK(ask(kRuns, runs("535.183.01", "12.2.2", "12.4")).empty());
    CHECK(ask(kRuns, runs("550.54.15", "12.4.1", "12.4")).empty());
    // Libraries that do not help: the driver is judged alone.
    CHECK(message_of(kRuns, runs("545.23.06", "13.0.2", "13.0")) ==
          "driver 545.23.06 is too old for CUDA 13.0.2: CUDA 13 needs >= 580.65.06");
    CHECK(verdict_of(kRuns, runs("470.161.03", "13.0.2", "12.4")) == Verdict::rejected);
    CHECK(verdict_of(kRuns, runs("535.183.01", "12.9.1", "12.4")) == Verdict::degraded);
    CHECK(
        message_of(kRuns, runs("535.183.01", "13.5.0", "13.5")) ==
        "no fact lists the driver branches of the compat libraries of CUDA 13.5 (the nearest that are known, "
        "of CUDA 13.4, are made for 535, 570, 580, 590, 595, 610): whether driver 535.183.01 runs CUDA "
        "13.5.0 "
        "with them is unknown");
    CHECK(verdict_of(kRuns, {{Field::driver, "526.86"},
                             {Field::cuda, "12.4.1"},
                             {Field::cuda_compat, "12.4"},
                             {Field::os, "windows"}}) == Verdict::rejected);
}

// Independent: written down by hand from NVIDIA's image requirements.
TEST_CASE("compat libraries: truth table of branches and minors") {
    struct Line {
        const char* cuda;
        int native;  // 10 * major + minor
        std::vector<int> branches;
    };
    const Line lines[] = {{"11.8", 118, {450, 470, 510, 515}},      {"12.0", 120, {450, 470, 510, 515, 520}},
                          {"12.1", 121, {450, 470, 510, 515, 525}}, {"12.2", 122, {450, 470, 525}},
                          {"12.4", 124, {470, 525, 535}},           {"12.6", 126, {470, 535, 550}},
                          {"12.8", 128, {470, 535, 550, 560, 565}}, {"12.9", 129, {535, 550, 560, 565, 570}},
                          {"13.0", 130, {535, 550, 565, 570, 575}}, {"13.1", 131, {535, 550, 570, 575, 580}}};
    const std::pair<int, int> drivers[] = {
        {450, 110}, {455, 111}, {460, 112}, {470, 114}, {495, 115}, {510, 116}, {515, 117}, {520, 118},
        {525, 120}, {530, 121}, {535, 122}, {545, 123}, {550, 124}, {555, 125}, {560, 126}, {565, 127},
        {570, 128}, {575, 129}, {580, 130}, {590, 131}, {595, 132}, {610, 133}};
    std::size_t compared = 0;
    for (const auto& line : lines) {
        for (const auto& driver : drivers) {
            const auto branch = driver.first, native = driver.second;
            const bool listed =
                std::find(line.branches.begin(), line.branches.end(), branch) != line.branches.end();
            const auto expected = native == line.native || (native < line.native && listed)
                                      ? Verdict::accepted
                                      : Verdict::degraded;
            CAPTURE(std::string(line.cuda) + " on " + std::to_string(branch));
            CHECK(verdict_of(kMatches, with(std::to_string(branch), line.cuda)) == expected);
            const bool used = native < line.native;  // no toolkit given: any branch
            CHECK(verdict_of(kHardware, on(std::to_string(branch), line.cuda, "RTX 3090")) ==
                  (used ? Verdict::rejected : Verdict::accepted));
            CHECK(verdict_of(kHardware, on(std::to_string(branch), line.cuda, "A100")) == Verdict::accepted);
            ++compared;
        }
    }
    CHECK(compared == 220);
}
