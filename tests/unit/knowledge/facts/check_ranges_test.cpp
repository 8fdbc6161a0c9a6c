// The self-check of ranges: what crosses, overlaps, leaves a gap or is still to come, planted in overlays.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "overlay_folder.hpp"

using namespace cudamatrix;
using test::Folder;
using test::mistakes_of;

namespace {

// What is wrong with these rows of one table, each on a line of its own from 4 on.
std::string wrong(const std::string& table, const std::vector<std::string>& rows) {
    Folder folder;
    std::string text = "table: " + table + "\nas_of: \"2026-12-01\"\nrows:\n";
    for (const auto& columns : rows)
        text += "  - {" + columns + ", source: \"https://example.org/a\", confidence: read}\n";
    folder.write("a.yaml", text);
    return mistakes_of(folder);
}

struct Case {
    std::string columns, message;  // no message: accepted
};

void check_cases(const std::string& table, const std::vector<Case>& cases) {
    for (const auto& each : cases) {
        CAPTURE(each.columns);
        CHECK(wrong(table, {each.columns}) ==
              (each.message.empty() ? "(none)" : "a.yaml:4:5: error: row " + each.message + "\n"));
    }
}

}  // namespace

TEST_CASE("days that have been are not after today") {
    const std::string branch = "id: driver-r700, branch: 700";
    check_cases(
        "driver_branches",
        {{branch + ", released: \"2026-12-01\", eol: \"2031-01\"", ""},
         {branch + ", released: \"2026-12-02\"",
          "'driver-r700': column 'released' holds '2026-12-02': expected no day after today, 2026-12-01"},
         {branch + ", as_of: \"2027-01-01\"",
          "'driver-r700': column 'as_of' holds '2027-01-01': expected no day after today, 2026-12-01"}});
    const std::string release = "id: cuda-13.5.7, cuda: 13.5.7, minor: \"13.5\"";
    check_cases(
        "cuda_releases",
        {{release + ", released: \"2026-12\"", ""},
         {release + ", released: \"2027-01\"",
          "'cuda-13.5.7': column 'released' holds '2027-01': expected no day after today, 2026-12-01"}});
    const std::string system = "id: os-x, os: x, name: X, render: false";
    check_cases("operating_systems",
                {{system + ", released: \"2026-12-01\"", ""},
                 {system + ", released: \"2026-12-02\"",
                  "'os-x': column 'released' holds '2026-12-02': expected no day after today, 2026-12-01"}});
    check_cases("package_archives",
                {{"id: archive-x, archive: x, snapshots_first: \"2030-01-01\"",
                  "'archive-x': column 'snapshots_first' holds '2030-01-01': expected no day after today, "
                  "2026-12-01"}});
}

TEST_CASE("the lower end of a range is not above the upper one") {
    const std::string branch = "id: driver-r700, branch: 700";
    check_cases(
        "driver_branches",
        {{branch + ", oldest: 700.10, newest: 700.10, windows_oldest: 701.10, windows_newest: 702", ""},
         {branch + ", released: \"2026-11-30\", eol: \"2026-11\"", ""},
         {branch + ", oldest: 700.20, newest: 700.3",
          "'driver-r700': column 'oldest' holds '700.20': expected at most '700.3', its newest"},
         {branch + ", windows_oldest: 699.1",
          "'driver-r700': column 'branch' holds '700': expected at most '699.1', its windows_oldest"},
         {branch + ", released: \"2026-11-30\", eol: \"2026-10\"",
          "'driver-r700': column 'released' holds '2026-11-30': expected at most '2026-10', its eol"}});
    const std::string toolkit =
        "id: cuda-toolkit-99.0, cuda: \"99.0\", ptx_isa: \"99.0\", targets: [\"9.0\"]";
    check_cases("cuda_toolkits",
                {{toolkit + ", gcc_min: 90, gcc_max: 89",
                  "'cuda-toolkit-99.0': column 'gcc_min' holds '90': expected at most '89', its gcc_max"}});
    check_cases(
        "torch_releases",
        {{"id: torch-99.0.0, torch: 99.0.0, variants: [cpu], complete: false, python_min: \"3.9\", "
          "python_max: \"3.8\"",
          "'torch-99.0.0': column 'python_min' holds '3.9': expected at most '3.8', its python_max"}});
    check_cases(
        "package_torch_floors",
        {{"id: package-torch-x, package: x, versions: \">=1,<2\", severity: error, consequence: x, "
          "torch_min: \"2.4\", torch_below: \"2.4\"",
          "'package-torch-x': column 'torch_min' holds '2.4': expected less than '2.4', its torch_below"}});
    const std::string system = "id: os-x, os: x, name: X, render: false";
    check_cases("operating_systems",
                {{system + ", released: \"2026-11-30\", eol: \"2026-11\"", ""},
                 {system + ", released: \"2026-11-30\", eol: \"2026-11-29\"",
                  "'os-x': column 'released' holds '2026-11-30': expected at most '2026-11-29', its eol"},
                 {system + ", eol: \"2027-01\", lts_eol: \"2026-12-31\"",
                  "'os-x': column 'eol' holds '2027-01': expected at most '2026-12-31', its lts_eol"}});
}

TEST_CASE("a part is one of its whole") {
    check_cases("driver_branches",
                {{"id: driver-r700, branch: 700, newest: 701.1",
                  "'driver-r700': column 'newest' holds '701.1': expected one of '700', its branch"}});
    check_cases("cuda_releases",
                {{"id: cuda-13.5.7, cuda: 13.5.7, minor: \"13.5\", nvcc: 13.5.90", ""},
                 {"id: cuda-13.5.7, cuda: 13.5.7, minor: \"13.5\", nvcc: 13.6.90",
                  "'cuda-13.5.7': column 'nvcc' holds '13.6.90': expected one of '13.5', its minor"}});
    check_cases("cuda_families",
                {{"id: cuda-family-99, major: 99, min_driver_linux: 999, skipped: [\"98.1\"]",
                  "'cuda-family-99': column 'skipped' holds '98.1': expected one of '99', its major"}});
}

TEST_CASE("what rises from row to row does not fall, whichever of the two is the overlay's") {
    check_cases("driver_branches",
                {{"id: driver-r700, branch: 700, cuda: \"13.9\"", ""},
                 {"id: driver-r612, branch: 612, cuda: \"13.2\"",
                  "'driver-r612': column 'cuda' holds '13.2': expected at least '13.3', the cuda of row "
                  "'driver-r610'"},
                 {"id: driver-r612, branch: 612, cuda: \"13.5\"",
                  "'driver-r612': column 'cuda' holds '13.5': expected at most '13.4', the cuda of row "
                  "'driver-r615'"},
                 {"id: driver-r612, branch: 612, released: \"2026-09-10\"",
                  "'driver-r612': column 'released' holds '2026-09-10': expected at most '2026-09-09', the "
                  "released of row 'driver-r615'"}});
    const std::string toolkit = "id: cuda-toolkit-99.0, cuda: \"99.0\", targets: [\"9.0\"], ptx_isa: ";
    check_cases(
        "cuda_toolkits",
        {{toolkit + "\"99.0\"", ""},
         {toolkit + "\"1.0\"",
          "'cuda-toolkit-99.0': column 'ptx_isa' holds '1.0': expected at least '9.5', the ptx_isa of row "
          "'cuda-toolkit-13.5'"},
         {toolkit + "\"99.0\", gcc_max: 4",
          "'cuda-toolkit-99.0': column 'gcc_max' holds '4': expected at least '16', the gcc_max of row "
          "'cuda-toolkit-13.5'"}});
    check_cases(
        "cuda_releases",
        {{"id: cuda-12.8.3, cuda: 12.8.3, minor: \"12.8\", released: \"2026-06-01\"", ""},
         {"id: cuda-12.8.3, cuda: 12.8.3, minor: \"12.8\", released: \"2025-06-01\"",
          "'cuda-12.8.3': column 'released' holds '2025-06-01': expected at least '2026-04-21', the released "
          "of row 'cuda-12.8.2'"}});
    check_cases("pythons",
                {{"id: python-3.16, python: \"3.16\", released: \"2026-11-01\", eol: \"2032-10\"", ""},
                 {"id: python-3.16, python: \"3.16\", eol: \"2030-10\"",
                  "'python-3.16': column 'eol' holds '2030-10': expected more than '2031-10', the eol of row "
                  "'python-3.15'"}});
    const std::string companion = "id: companion-x-1.0, package: x, version: \"1.0\", torch: 2.1.0";
    CHECK(wrong("torch_companions",
                {companion, "id: companion-x-1.1, package: x, version: \"1.1\", torch: 2.0.1"}) ==
          "a.yaml:5:5: error: row 'companion-x-1.1': column 'torch' holds '2.0.1': expected at least "
          "'2.1.0', the "
          "torch of row 'companion-x-1.0'\n");
    CHECK(wrong("torch_companions",
                {companion, "id: companion-y-1.1, package: y, version: \"1.1\", torch: 2.0.1"}) == "(none)");
}

TEST_CASE("rows about the same thing do not overlap") {
    const std::string error = ", severity: error, consequence: x";
    check_cases(
        "package_cuda",
        {{"id: package-cuda-x, package: vllm, versions: \"<0.2.2\", open: older, cuda_major: 11" + error, ""},
         {"id: package-cuda-x, package: vllm, versions: \">=0.20\", open: newer, cuda_major: 13, severity: "
          "warning, consequence: x",
          ""},
         {"id: package-cuda-x, package: vllm, versions: \">=0.3,<0.3.3\", cuda_major: 12" + error,
          "'package-cuda-x': it overlaps row 'package-cuda-vllm-0.2.2': package vllm; severity error; "
          "versions >=0.3,<0.3.3 beside >=0.2.2,<0.3.3: expected one of these apart"}});
    check_cases(
        "package_torch_floors",
        {{"id: package-torch-x, package: transformers, versions: \">=5.20\", open: newer, torch_min: \"2.7\"" +
              error,
          "'package-torch-x': it overlaps row 'package-torch-transformers-5.20': package transformers; "
          "severity error; versions >=5.20: expected one of these apart"},
         {"id: package-torch-x, package: flash-attn, versions: \">=2.5.7,<2.5.8\", torch_versions: "
          "\">=2.3.1,<2.5\", torch_min: \"2.7\"" +
              error,
          "'package-torch-x': it overlaps row 'package-torch-flash-attn-2.5.1-torch-2.3': package "
          "flash-attn; severity error; versions >=2.5.7,<2.5.8 beside >=2.5.1,<2.5.8; torch_versions "
          ">=2.3.1,<2.5 beside >=2.3,<2.4: expected one of these apart"},
         {"id: package-torch-x, package: flash-attn, versions: \">=2.5.7,<2.5.8\", torch_versions: "
          "\">=2.4,<2.5\", torch_min: \"2.7\"" +
              error,
          ""}});
    check_cases(
        "driver_branches",
        {{"id: driver-r612, branch: 612, windows_oldest: 615.99", ""},
         {"id: driver-r612, branch: 612, windows_oldest: 616.99",
          "'driver-r612': it overlaps row 'driver-r615': windows_oldest 616.99 to 616.99 beside 616.56 to "
          "617.14: expected one of these apart"}});
    check_cases(
        "container_toolkits",
        {{"id: container-toolkit-1.20, first: \"1.20\", last: \"1.21\", mode: legacy, checks_requirements: "
          "true",
          "'container-toolkit-1.20': it overlaps row 'container-toolkit-1.18': first 1.20 to 1.21 beside "
          "1.18 "
          "to 1.20: expected one of these apart"}});
    check_cases("gpus", {{"id: gpu-x, name: X, aliases: [X, T4], compute: \"7.5\", class: datacenter",
                          "'gpu-x': it overlaps row 'gpu-t4': aliases X, T4 beside T4, NVIDIA T4, NVIDIA "
                          "Tesla T4: expected one of these "
                          "apart"}});
}

TEST_CASE("a range of releases has two ends, or says that it has not") {
    const std::string row =
        "id: package-gpu-x, package: x, compute_min: \"8.0\", severity: error, consequence: y, ";
    check_cases("package_gpu_floors",
                {{row + "versions: \">=1,<2\"", ""},
                 {row + "versions: \"==1.4\"", ""},
                 {row + "versions: \"~=1.4\"", ""},
                 {row + "versions: \"<2\", open: older", ""},
                 {row + "versions: \">=1\", open: newer", ""},
                 {row + "versions: \"!=1.4\", open: both", ""},
                 {row + "versions: \"<2\"",
                  "'package-gpu-x': column 'versions' holds '<2': expected two ends, or open: older"},
                 {row + "versions: \"<=2\", open: newer",
                  "'package-gpu-x': column 'versions' holds '<=2': expected two ends, or open: older"},
                 {row + "versions: \">=1\"",
                  "'package-gpu-x': column 'versions' holds '>=1': expected two ends, or open: newer"},
                 {row + "versions: \">=1,!=1.4\", open: both",
                  "'package-gpu-x': column 'versions' holds '>=1,!=1.4': expected two ends, or open: newer"},
                 {row + "versions: \"!=1.4\"",
                  "'package-gpu-x': column 'versions' holds '!=1.4': expected two ends, or open: both"},
                 {row + "versions: \">=1,<2\", open: newer",
                  "'package-gpu-x': column 'open' holds 'newer': expected none, '>=1,<2' has two ends"}});
}

TEST_CASE("no minor is left out") {
    const auto toolkit = [](const std::string& cuda) {
        return "id: cuda-toolkit-" + cuda + ", cuda: \"" + cuda + "\", ptx_isa: \"99.0\", targets: [\"9.0\"]";
    };
    CHECK(wrong("cuda_toolkits", {toolkit("13.6"), toolkit("13.7")}) == "(none)");
    CHECK(wrong("cuda_toolkits", {toolkit("14.0")}) == "(none)");
    CHECK(wrong("cuda_toolkits", {toolkit("13.7")}) ==
          "a.yaml:4:5: error: row 'cuda-toolkit-13.7': no row has '13.6', between '13.5' and '13.7': "
          "expected it "
          "there or in cuda_families.skipped\n");
    CHECK(wrong("cuda_toolkits", {toolkit("13.7"), toolkit("13.9")}) ==
          "a.yaml:4:5: error: row 'cuda-toolkit-13.7': no row has '13.6', between '13.5' and '13.7': "
          "expected it "
          "there or in cuda_families.skipped\n"
          "a.yaml:5:5: error: row 'cuda-toolkit-13.9': no row has '13.8', between '13.7' and '13.9': "
          "expected it "
          "there or in cuda_families.skipped\n");
    check_cases(
        "container_toolkits",
        {{"id: container-toolkit-1.22, first: \"1.22\", last: \"1.23\", mode: legacy, checks_requirements: "
          "true",
          "'container-toolkit-1.22': no row has '1.21', between '1.20' and '1.22': expected it there"}});
    check_cases(
        "cuda_families",
        {{"id: cuda-family-99, major: 99, min_driver_linux: 999, skipped: [\"99.1\"]", ""},
         {"id: cuda-family-12, major: 12, min_driver_linux: 525.60.13, min_driver_windows: \"528.33\", "
          "skipped: [\"12.6\", \"12.7\"]",
          "'cuda-family-12': column 'skipped' names '12.6': expected none that cuda_toolkits.cuda has"}});
    check_cases(
        "absent_wheel_indexes",
        {{"id: no-index-cu118, name: cu118",
          "'no-index-cu118': column 'name' names 'cu118': expected none that wheel_indexes.name has"}});
}

TEST_CASE("rows of two tables do not contradict each other") {
    const std::string branch = "id: driver-r560, branch: 560, cuda: \"12.6\", oldest: 560.28.03, newest: ";
    check_cases("driver_branches",
                {{branch + "560.99", ""},
                 {"id: driver-r560, branch: 560, cuda: \"12.6\", ptx_isa: \"8.6\"",
                  "'driver-r560': column 'ptx_isa' holds '8.6': expected at most '8.5', the ptx_isa of row "
                  "'cuda-toolkit-12.6'"},
                 {branch + "560.35.04",
                  "'driver-r560': column 'newest' holds '560.35.04': expected at least '560.35.05', the "
                  "bundled_driver_linux of row 'cuda-12.6.3'"}});
    const std::string release = "id: cuda-12.6.4, cuda: 12.6.4, minor: \"12.6\"";
    check_cases(
        "cuda_releases",
        {{release + ", bundled_driver_linux: 560.35.05, gcc_max: 13", ""},
         {release + ", bundled_driver_linux: 560.36",
          "'cuda-12.6.4': column 'bundled_driver_linux' holds '560.36': expected at most '560.35.05', the "
          "newest of row 'driver-r560'"},
         {release + ", gcc_max: 14",
          "'cuda-12.6.4': column 'gcc_max' holds '14': expected at most '13', the gcc_max of row "
          "'cuda-toolkit-12.6'"}});
    check_cases("forward_compatibility",
                {{"id: compat-12.4, cuda: \"12.4\", branches: [535, 550]", ""},
                 {"id: compat-12.4, cuda: \"12.4\", branches: [535, 560]",
                  "'compat-12.4': column 'cuda' holds '12.4': expected at least '12.6', the cuda of row "
                  "'driver-r560'"}});
    check_cases(
        "gpus",
        {{"id: gpu-x, name: X, aliases: [X], compute: \"8.9\", class: datacenter, min_driver: 515.1",
          "'gpu-x': column 'min_driver' holds '515.1': expected at least '520', the first_driver_branch of "
          "row 'arch-ada'"}});
}

TEST_CASE("clauses admit some version") {
    const std::string abi =
        "id: package-numpy-abi-x, package: x, severity: error, consequence: x, numpy: \">=2\", "
        "versions: ";
    check_cases(
        "package_numpy_abi",
        {{abi + "\">=1,<=1\"", ""},
         {abi + "\"==1.0,==1.1\"",
          "'package-numpy-abi-x': column 'versions' holds '==1.0,==1.1': expected clauses that a version "
          "meets"}});
}

TEST_CASE("a known problem is told apart from the others, and its conditions and ways out are checked") {
    const std::string words = ", severity: error, says: x, asks: x";
    const auto row = [&](const std::string& rule, const std::string& when, const std::string& more = {}) {
        return "id: x, rule: " + rule + ", when: {" + when + "}" + words + more;
    };
    const std::string apart = ": expected conditions that no cell meets both of";
    const std::string flaw =
        "id: x, rule: container-toolkit-vulnerable, severity: warning, says: x, when: {toolkit: ";
    check_cases(
        "known_problems",
        {{row("known-defect", "cuda: \"12.4.1\", compute: [\"9.0\", \">=10.0\"]", ", fix: {cuda: newer}"),
          ""},
         {row("known-defect", "cuda: \"12.4.1\"", ", fix: {cuda: 12.5.0}"), ""},
         {row("known-defect", "cuda: \"12.4.1\"", ", fix: {cuda: 12.4.1}"),
          "'x': column 'fix.cuda' holds '12.4.1': expected a value that its when spares"},
         {row("known-defect", "cuda: \"12.4.1\"", ", fix: {cuda: 12.7.0}"),
          "'x': column 'fix.cuda' names '12.7.0', which cuda_releases.cuda does not have"},
         {row("known-defect", "cuda: \">=12.4.1,<=12.4.0\""),
          "'x': column 'when.cuda' holds '>=12.4.1,<=12.4.0': expected clauses that a version meets"},
         {row("known-defect", "cuda: new"),
          "'x': column 'when.cuda': invalid cuda \"new\": expected a version (12.4.1), or 12.4 for its newest update"},
         {row("known-defect", "cuda: \"12.4.1\", compute: [\"9.7\"]"),
          "'x': column 'when.compute' names '9.7', which architectures.compute does not have"},
         {row("known-defect", "env: x"),
          "'x': column 'when.env': expected a field with a single value, or packages"},
         {row("known-defect", "cuda: \"12.4.1\", driver: \"550\""),
          "'x': column 'when.driver': rule known-defect does not look at it"},
         {row("packages-run-together", "packages: {trl: \">=1,<2\", transformers: \">=9\"}"), ""},
         {row("packages-run-together", "packages: {trl: \">=99\", transformers: \">=9\"}"),
          "'x': its `when` has no end for newer releases of trl: expected two ends"},
         {row("packages-run-together", "packages: {trl: \"<0.0.1\", transformers: \">=9\"}"),
          "'x': its `when` has no end for older releases of trl: expected two ends"},
         {row("other", "cuda: \"12.4.1\""),
          "'x': column 'rule' holds 'other': expected one of compiler-known-broken, "
          "container-toolkit-vulnerable, known-defect, packages-run-together"},
         {row("compiler-known-broken", "compiler: \"<gcc-3\", cuda: \"<9\""), ""},
         {"id: x, rule: known-defect, when: {cuda: \"12.4.1\"}, severity: error, says: x",
          "'x': column 'asks' is missing"},
         {flaw + "\"<1.18\"}, fix: {toolkit: \"1.18\"}", ""},
         {flaw + "\"<1.18\"}, fix: {toolkit: \"1.17.9\"}",
          "'x': column 'fix.toolkit' holds '1.17.9': expected a value that its when spares"},
         {flaw + "\"<1.18\"}, asks: x",
          "'x': column 'asks': expected none, container-toolkit-vulnerable does not ask it"},
         {flaw + "\">1.18,<1.17\"}",
          "'x': column 'when.toolkit' holds '>1.18,<1.17': expected clauses that a version meets"},
         {"id: x, rule: known-defect" + words, "'x': column 'when' is missing"},
         {row("known-defect", "cuda: \"12.4.1\"", ", says_of_some: \"{cuda} {compute}\""),
          "'x': column 'says_of_some' says {compute}: expected a field or package of its when"},
         {row("known-defect", "cuda: \"12.4.1\"", ", fix: {driver: 550, packages: {trl: another}}"),
          "'x': column 'fix.driver': expected a field or package of its when\na.yaml:4:5: error: row 'x': "
          "column 'fix.packages.trl': expected a field or package of its when"},
         {row("known-defect", "cuda: \">=13.2,<13.3\""),
          "'x': it overlaps row 'defect-cublas-nvfp4-scaling'" + apart},
         {row("compiler-known-broken", "compiler: \">=gcc-11.4,<gcc-12\", cuda: \"11.5\""),
          "'x': it overlaps row 'defect-gcc-11.3-cuda-11.5'" + apart},
         {row("compiler-known-broken", "compiler: \">=clang-11.4,<clang-12\", cuda: \"11.5\""), ""},
         {row("compiler-known-broken", "compiler: \">=gcc-12.4,<gcc-13\", cuda: \"12.4\", arch: aarch64"),
          ""},
         {row("packages-run-together", "packages: {trl: \">=0.7,<0.9\", transformers: \">=5\"}",
              ", fix: {packages: {trl: [another, none]}}"),
          "'x': it overlaps row 'package-pair-trl-transformers'" + apart},
         {row("packages-run-together", "packages: {trl: \">=0.7,<0.9\", numpy: \">=5\"}"), ""},
         {row("packages-run-together", "packages: {trl: old, numpy: \">=5\"}"),
          "'x': column 'when.packages.trl' holds 'old': expected clauses such as >=2.0,<3"},
         {row("packages-run-together", "packages: {trl: \">=0.7,<0.9\", numpy: \">=5\"}",
              ", fix: {packages: {trl: older}}"),
          "'x': column 'fix.packages.trl' holds 'older': expected another or none"}});
}
