#include "matrix/field.hpp"

#include "support.hpp"

using namespace cudamatrix;

TEST_CASE("the list of fields is complete and in the order of the enumeration") {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < kFieldCount; ++i) {
        const FieldInfo& field = all_fields()[i];
        CAPTURE(field.name);
        CHECK(static_cast<std::size_t>(field.field) == i);
        CHECK(field_named(field.name) == field.field);
        CHECK(names.insert(field.name).second);
        CHECK_FALSE(field.accepts.empty());
        CHECK((field.syntax == Syntax::choice) == !field.choices.empty());
    }
    CHECK_FALSE(field_named("drivers").has_value());
}

namespace {

bool takes(std::string_view field, std::string_view value) {
    return read_matrix_text(fmt::format("version: 1\nset: {{{}: {}}}\n", field, value), "matrix.yaml").ok();
}

struct Case {
    std::string_view field;
    std::vector<std::string_view> good;
    std::vector<std::string_view> bad;
};

}  // namespace

TEST_CASE("each field takes its own syntax and nothing else") {
    const std::vector<Case> cases{
        {"driver",
         {"570", "550.54.15", "R550", "470.161.03"},
         {"'550,54'", "v550", "'>=550'", "550.54.15.1.1", "'550 '", "-550"}},
        {"gpu",
         {"T4", "RTX 4090", "A100 80GB", "Jetson AGX Orin", "H100-SXM5"},
         {"'T4 '", "' T4'", "'$x'", "'T4;'", "../x", "''", "é"}},
        {"compute", {"7.5", "9.0a", "12.0f"}, {"sm_9", "9", "9.0b", "9.00", "'7.5+PTX'"}},
        {"cuda",
         {"12", "12.4", "12.4.1", "13.0.2"},
         {"12.", "12.4.1.2.3", "latest", "12.x", "none", "'12.4 1'"}},
        {"torch",
         {"none", "2.6.0", "2.6.0+cu124", "2.6", "2.7.0rc1", "2.5.0+cpu", "2.4.0+rocm6.1",
          "2.9.0.dev20250812", "2.9.0.dev20240229+cu128", "v2.9.0.dev20250812"},
         {"None",
          "2.6.0+",
          "2.6.0+CU124",
          "v",
          "2.6.0+cu_124",
          "2.9.0.dev",
          "2.9.0.dev2025",
          "2.9.0.dev20251399",
          "2.9.0.dev20250229",
          "2.9.0.dev202508120",
          "2.9.0dev20250812",
          "2.9.dev20250812",
          "2.9.0.1.dev20250812",
          "2.9.0rc1.dev20250812",
          "2.9.0.dev20250812cu128",
          "2.9.0.dev20250812+",
          "2.9.0.dev20250812+CU128",
          "2.9.0.dev20250812.dev20250812",
          "2.9.0.DEV20250812",
          ".dev20250812",
          "2.9.0.dev-2025081",
          "nightly"}},
        {"python", {"3.10", "3.12.4", "3.13t", "3.14.0rc2"}, {"cp312", "3.x", "3.12.4.5", "py3"}},
        {"os",
         {"ubuntu22.04", "debian12", "windows", "rhel9"},
         {"Ubuntu22.04", "ubuntu 22.04", "../x", "22.04", "ubuntu-"}},
        {"arch", {"x86_64", "aarch64"}, {"i386", "armv7", "X86_64"}},
        {"image",
         {"debian", "debian:12", "docker.io/library/debian:12", "localhost:5000/a/b_c:1",
          "nvcr.io/nvidia/pytorch:24.05-py3"},
         {"Debian", "a//b", "'debian:'", "http://x/y", "x/../y", "-a"}},
        {"compiler",
         {"gcc-11", "clang-14.0.6", "msvc-14.40", "msvc-19.44", "msvc-1940", "msvc-2022"},
         {"gcc", "gcc_11", "icc-19", "gcc-", "gcc-11.1.1.1", "msvc", "msvc-", "msvc-v143", "vs"}},
        {"vram_gb", {"16", "1"}, {"0", "16GB", "1.5", "-1", "999999"}},
        {"shm_gb", {"8", "1"}, {"0", "8g", "0.5", "999999"}},
        {"mig", {"1", "true", "7"}, {"false", "yes", "0"}},
        {"packages",
         {"{timm: 0.6.13, transformers: 4.27.4}", "{xformers: 0.0.26.post1, numpy: 2.0.0rc1, x: 1.0.dev3}",
          "{torchvision: 0.13.1+cu113, flash-attn: 2.8.3+cu12torch2.8, y: 1.0a1.post2.dev3}",
          "{timm: any, torchvision: auto}"},
         {"{}", "timm", "{timm: }", "{timm: '>=1'}", "{'-r x': 1}", "{timm: [1]}", "{timm: 1.0.post}",
          "{timm: 1.}", "{timm: v1}", "{timm: 1.0rc}", "{timm: 1.0+}", "{timm: 1.0+x.}", "{timm: 1.0-1}",
          "{timm: latest}", "{timm: ANY}", "{timm: any.1}", "{timm: 'any '}", "{timm: anything}",
          "{timm: any+cu124}"}},
        {"env",
         {"{HF_HOME: /cache}", "{NVIDIA_DRIVER_CAPABILITIES: 'compute,utility'}",
          "{TOKENIZERS_PARALLELISM: false}", "{NVIDIA_REQUIRE_CUDA: 'cuda>=12.4 brand=tesla,driver<536'}"},
         {"{LD_LIBRARY_PATH: /x}", "{Ld_Preload: /x}", "{PATH: /x}", "{A: 'a$b'}", "{A: 'a<b'}",
          "{NVIDIA_REQUIRE_CUDA: 'cuda>=12.4|x'}", "{A: \"a\\nb\"}", "{1A: x}", "{API_TOKEN: x}", "{}"}},
        {"uses", {"THC", "[THC, ptx-only]"}, {"[]", "[[THC]]", "'a b'", "{a: b}"}},
        {"arch_list", {"7.5", "'7.5;8.0+PTX'", "'8.6 9.0a'", "Turing"}, {"'7.5;'", "sm_75", "'7.5;$x'"}},
    };
    for (const auto& each : cases) {
        for (const auto value : each.good)
            CHECK_MESSAGE(takes(each.field, value), each.field, ": ", value);
        for (const auto value : each.bad)
            CHECK_FALSE_MESSAGE(takes(each.field, value), each.field, ": ", value);
    }
}

TEST_CASE("hostile text passes in no field") {
    const std::vector<std::string> payloads{
        "x\\nRUN id",   "x\\r\\nRUN id", "$(id)",        "`id`",     "${IFS}x",   "x; id",
        "x && id",      "x | id",        "x > y",        "\\\"x",    "x'",        "\\\\",
        "x \\\\\\nRUN", "# syntax=evil", "{{x}}",        "{{{x}}}",  "{% x %}",   "<!-- x",
        "../../x",      "x\\u0000",      "x\\u001b[31m", "x\\u202e", "x\\u2028y", "\\t",
        "x\\ty",        "%s%n",          "x,y=z;",       "*",        "!x",        "&x",
        "@x/y z"};
    const std::vector<std::string> harmless{"../../x", "x,y=z;", "%s%n", "x; id",
                                            "@x/y z"};  // in a variable's value
    for (const auto& field : all_fields()) {
        for (const auto& payload : payloads) {
            // "*" and ".." alone are also no value of any field; maps get the payload as the value of a
            // member.
            const bool map = field.syntax == Syntax::string_map;
            const auto value = map ? fmt::format("{{A: \"{}\"}}", payload) : fmt::format("\"{}\"", payload);
            if (field.field == Field::env &&
                std::find(harmless.begin(), harmless.end(), payload) != harmless.end())
                continue;
            CHECK_FALSE_MESSAGE(takes(field.name, value), field.name, ": ", payload);
        }
    }
}

TEST_CASE("what only looks like a secret is a value like any other") {
    const auto check = [](const std::vector<std::string>& values, bool good) {
        for (const std::string& value : values)
            CHECK_MESSAGE(matrix_test::reads("set: {env: {HOME_OF_IT: \"" + value + "\"}}\n") == good, value);
    };
    check(
        {"http://proxy.example.org:3128", "https://user@host.example.org/x",
         "ssh://git@host.example.org:22/x", "http://host.example.org:80/a@b", "http://a.example.org,user:x@b",
         "hf_transfer", "hf_home", "ghp_short1", "sk-learn", "sk-learn-contrib-imbalanced-learn-and-more",
         "AKIA", "AKIAIOSFODNN7EXAMPL", "AKIAIOSFODNN7EXAMPLE2", "task-0123456789abcdef0123456789abcdef",
         "glpat-x", "mysk-0123456789012345678901234567890123"},
        true);
    check({"http://u:p@h", "HTTPS://u:p@h", "postgres://u:p@h:5432/db", "redis://:p@h", "http://u:p@w@h",
           "x,http://u:p@h", "http://a:b,http://u:p@h", "AKIAIOSFODNN7EXAMPLE", "k=ASIAIOSFODNN7EXAMPLE",
           "ghs_abcdefghijklmnopqrstuvwxyz0123456789", "sk-ant-0123456789abcdef0123456789abcdef",
           "glpat-abcdefghij0123456789", "Bearer hf_abcdefghijklmnopqrstuvwxyz01234567"},
          false);
}
