#include "look/measure/demand.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;

namespace {

/// The demands, joined by " | ", or "none" where the requirement is not understood.
std::string of(std::string_view requirement, std::string_view python = ">=3.8") {
    const auto found = demands(requirement, python);
    return found ? text::join(*found, " | ") : "not understood";
}

std::string holds(std::string_view marker, std::string_view python = "3.12",
                  std::string_view arch = "x86_64") {
    const auto parsed = Marker::parse(marker);
    if (!parsed) return "no marker";
    const auto answer = parsed->holds(python, arch);
    return !answer ? "unknown" : *answer ? "yes" : "no";
}

}  // namespace

TEST_CASE("A requirement says whom it demands in which versions") {
    CHECK(of("numpy (>=1.17)") == "numpy >=1.17");
    CHECK(of("torch==2.6.0") == "torch ==2.6.0");
    CHECK(of("pillow !=8.3.*,>=5.3.0") == "pillow >=5.3.0,!=8.3.*");
    CHECK(of("fsspec[http]<2027.0,>=2022.5.0") == "fsspec >=2022.5.0,<2027.0");
    CHECK(of("Typing_Extensions >= 4.8.0, ") == "typing-extensions >=4.8.0");
    CHECK(of("triton~=3.8.0") == "triton ~=3.8.0");
    CHECK(of("torch").empty());
    CHECK(of("torch @ https://example.org/torch.whl").empty());
}

TEST_CASE("Markers are judged for CPython on Linux, and what depends on python or machine says so") {
    CHECK(of("a>=1; sys_platform == 'linux'") == "a >=1");
    CHECK(of("a>=1; sys_platform == 'win32'").empty());
    CHECK(of("a>=1; extra == 'dev'").empty());
    CHECK(of("a>=1; platform_system == \"Linux\" and platform_machine == \"x86_64\"") ==
          "a >=1; arch x86_64");
    CHECK(of("a>=1; platform_machine != 'x86_64'") == "a >=1; arch aarch64");
    CHECK(of("a>=1; python_version >= '3.13'") == "a >=1; python >=3.13");
    CHECK(of("a>=1; python_version < \"3.11\"") == "a >=1; python <3.11");
    CHECK(of("a>=1; python_version < '3.8'").empty());  // the package does not run there
    CHECK(of("a>=1; python_version >= '3.8'") == "a >=1");
    CHECK(of("a>=1; python_version>='3.9' and python_version<'3.12'") == "a >=1; python >=3.9,<3.12");
    CHECK(of("a>=1; python_version != '3.10'") == "a >=1; python <3.10 | a >=1; python >=3.11");
    CHECK(of("a>=1; python_version < '3.13' and platform_machine == 'aarch64'") ==
          "a >=1; python <3.13; arch aarch64");
    CHECK(of("a>=1; python_full_version < '3.9'") == "a >=1; python <3.9");
    CHECK(of("a>=1; (python_version < '3.9' or sys_platform == 'linux') and not_a_name == 'x'") ==
          "not understood");
}

TEST_CASE("What is no requirement is not understood") {
    for (const auto* bad : {"", ">=1", "a b", "a >=", "a >=x", "a[dev >=1", "a>=1; ", "a>=1; python_version",
                            "a>=1; 'x' ==", "a>=1; python_version >= '3", "a>=1; (python_version >= '3'",
                            "a>=1; python_version >= '3')", "a>=1; python_version ?? '3'",
                            "a>=1; platform_release >= '5'", "a!b>=1", "a>=1 or b"}) {
        if (std::string_view(bad) == "a>=1; ") {
            CHECK(of(bad) == "a >=1");
            continue;
        }
        CHECK_MESSAGE(of(bad) == "not understood", bad);
    }
    CHECK(of("a>=1; " + std::string(1000, '(') + "python_version > '3'" + std::string(1000, ')')) ==
          "not understood");
}

TEST_CASE("Markers compare versions as versions and text as text") {
    CHECK(holds("python_version > '3.9'") == "yes");
    CHECK(holds("'3.9' < python_version") == "yes");
    CHECK(holds("python_version in '3.11 3.12'") == "yes");
    CHECK(holds("platform_machine not in 'x86_64 amd64'") == "no");
    CHECK(holds("os_name == 'nt' or sys_platform == 'linux'") == "yes");
    CHECK(holds("platform_release > '5' and sys_platform == 'win32'") == "no");
    CHECK(holds("platform_release > '5' or sys_platform == 'linux'") == "yes");
    CHECK(holds("platform_release > '5'") == "unknown");
    CHECK(holds("implementation_name == 'pypy'") == "no");
    CHECK(holds("python_version orx") == "no marker");
    CHECK(holds("") == "yes");
}

TEST_CASE("Metadata ends where the description starts") {
    const auto metadata = parse_metadata(
        "Metadata-Version: 2.1\r\nName: torch\r\nVersion: 2.6.0\r\nrequires-python: "
        ">=3.9.0\r\nRequires-Dist: filelock\r\n"
        "Requires-Dist: sympy==1.13.1 ; python_version >= \"3.9\"\r\n\r\nRequires-Dist: numpy>=9\r\n");
    CHECK(metadata.version == "2.6.0");
    CHECK(metadata.requires_python == ">=3.9.0");
    CHECK(metadata.requires_dist.size() == 2);
    std::string bad;
    CHECK(all_demands(metadata, bad) == std::vector<std::string>{"sympy ==1.13.1"});
    auto broken = metadata;
    broken.requires_dist.emplace_back("no requirement");
    CHECK_FALSE(all_demands(broken, bad));
    CHECK(bad == "no requirement");
    CHECK(parse_metadata("").requires_dist.empty());
}

TEST_CASE("A header of several lines, some of them blank, ends nothing") {
    const auto metadata = parse_metadata(
        "Metadata-Version: 2.1\nVersion: 2.2.2\nLicense: BSD 3-Clause License\n        \n"
        "        Copyright (c) the authors\n\t\n        Requires-Dist: nothing>=9\n"
        "Requires-Python: >=3.9\nRequires-Dist: numpy>=1.26.0\n\n Requires-Dist: numpy>=9\n"
        "Requires-Dist: numpy>=9\n");
    CHECK(metadata.version == "2.2.2");
    CHECK(metadata.requires_python == ">=3.9");
    CHECK(metadata.requires_dist == std::vector<std::string>{"numpy>=1.26.0"});
}

TEST_CASE("The order of clauses and demands makes no difference") {
    CHECK(same_demands({"a >=1,!=1.3", "b ==2; arch x86_64"}, {"b ==2; arch x86_64", "a !=1.3,>=1"}));
    CHECK_FALSE(same_demands({"a >=1"}, {"a >=2"}));
    CHECK_FALSE(same_demands({"a >=1; arch x86_64"}, {"a >=1"}));
    CHECK_FALSE(same_demands({"a >=1"}, {}));
}
