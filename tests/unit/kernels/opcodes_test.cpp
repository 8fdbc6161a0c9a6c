// static.opcodes: kernels that were cut away, and instructions that are not there.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <set>
#include <string>

#include "kernels/host/host_tests.hpp"
#include "kernels/host/listing.hpp"
#include "kernels/host/opcodes.hpp"
#include "kernels/registry.hpp"
#include "unit/fatbin/fixture.hpp"
#include "unit/kernels/scratch.hpp"

using namespace cudamatrix::suite;

namespace {

std::string evidence_of(const Record& record, const std::string& name) {
    for (const auto& [key, text] : record.evidence) {
        if (key == name) return text;
    }
    return "";
}

// As nvcc writes it: comments, directives, a label, predicates, operands in braces, a scope of inline
// assembly.
std::string ptx_text(const std::string& body, const std::string& name = "cudamatrix_tc_bf16") {
    return "//\n.version 9.0\n.target sm_90\n.address_size 64\n.func (.param .b32 r) helper(.param .b32 p);\n"
           ".visible .entry " +
           name + "(\n\t.param .align 8 .b8 p[48]\n)\n.maxntid 128, 1, 1\n{\n\t.reg .b32 %r<9>;\n" + body +
           "\n\tret;\n}\n";
}

const std::string kWmma =
    "$L__BB0_1:\n\t{ mov.u32 %r3, %tid.x; }\n"
    "\twmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f32 {%f1, %f2}, {%r1, %r2}, {%r1}, {%f1};\n";
const std::string kStore = "\t@!%p1 st.global.f32 [%rd1], %f1; // fma.rn.f64\n";

fixture::Blob ptx(std::uint32_t arch, const std::string& text, bool compressed = false) {
    const auto size = compressed ? static_cast<std::uint32_t>(text.size()) : 0U;
    return fixture::entry({1, arch, 0x11, 9, 0, size, 64}, fixture::Blob().text(text).zeros(3));
}

// A cubin of one kernel with so many bytes of instructions.
fixture::Blob sass(std::uint32_t arch, std::size_t bytes, const std::string& name = "cudamatrix_tc_bf16") {
    const fixture::Blob strings = fixture::Blob().zeros(1).text(name).zeros(1);
    fixture::Blob symbols;
    symbols.zeros(24).number<std::uint32_t>(1).number<std::uint8_t>(0x12).zeros(1);
    symbols.number<std::uint16_t>(1).zeros(16);
    return fixture::entry({.arch = arch},
                          fixture::elf({{".strtab", 3, strings, 0},
                                        {".symtab", 2, symbols, 1},
                                        {".text." + name, 1, fixture::Blob().zeros(bytes), 0, 6}},
                                       {190, 0x33, 7, arch}));
}

const char* const kGoodSass = "        /*0000*/  @P0 HMMA.16816.F32.BF16 R4, R8, R12, R4 ;";

// A suite with tc.bf16 alone, on a machine that has no toolkit, or one with a nvdisasm of that release.
class Built {
  public:
    explicit Built(const fixture::Blob& program) {
        folder_.write("bin/tc_bf16", fixture::string_of(program));
        write_static("pass");
        context.prefix = folder_.path();
    }
    void write_static(const std::string& status) const {
        folder_.write("static.jsonl",
                      R"({"v":1,"id":"static.compile","part":"static","status":")" + status +
                          R"(","reason":"no_nvcc","summary":"s","evidence":{"nvcc":"13.0.88"}})");
    }
    void add_tool(const std::string& version, const std::string& line, int exit = 0) const {
        const std::string path = folder_.write(
            "tools/nvdisasm", "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Cuda, release " + version +
                                  ", V1'; exit; fi\n[ -s \"$2\" ] || exit 9\ncat <<'END'\n" +
                                  ".text.cudamatrix_tc_bf16:\n" + line + "\nEND\nexit " +
                                  std::to_string(exit) + "\n");
        REQUIRE(::chmod(path.c_str(), 0755) == 0);
    }
    [[nodiscard]] Record judged() const {
        const std::string path = folder_.path() + "/tools:/usr/bin:/bin";
        const scratch::Environment environment{{"PATH", path.c_str()}};
        return static_opcodes(context);
    }
    [[nodiscard]] const scratch::Folder& folder() const { return folder_; }
    Context context;

  private:
    scratch::Folder folder_;
};

fixture::Blob good_program() {
    return fixture::program({sass(75, 128), sass(90, 1024), ptx(90, ptx_text(kWmma + kStore))});
}

}  // namespace

TEST_CASE("static.opcodes: each kernel of the list is one of its test's source") {
    std::set<std::string_view> listed;
    for (const WantedOpcode& wanted : kWantedOpcodes) {
        const Test* test = find_test(wanted.id);
        REQUIRE_MESSAGE(test != nullptr, wanted.id);
        CHECK(test->runs_by == RunsBy::cuda);
        std::ifstream in(std::string(SUITE_KERNELS_DIR) + "/" + std::string(test->source) + ".cu");
        const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        CHECK_MESSAGE(text.find(" " + std::string(wanted.kernel) + "(") != std::string::npos, wanted.kernel);
        if (wanted.language == Language::ptx) listed.insert(wanted.id);
    }
    // Where hardware of its own is the point of the test, its instruction must be named.
    for (const Test& test : all_tests()) {
        if (test.group == "tensor") CHECK_MESSAGE(listed.count(test.id) == 1, test.id);
    }
}

TEST_CASE("static.opcodes: patterns") {
    CHECK(opcode_matches("fma.rn.f32", "fma.rn.f32"));
    CHECK(opcode_matches("st.*.v4.*", "st.global.v4.u32"));
    CHECK(opcode_matches("atom.*add.f64|red.*add.f64", "red.global.add.f64"));
    CHECK(opcode_matches("DMMA.*", "DMMA.8x8x4"));
    CHECK(opcode_matches("call*", "call"));
    for (const auto& row : std::initializer_list<std::pair<const char*, const char*>>{
             {"fma.rn.f32", "fma.rn.f32x2"},
             {"fma.rn.f32", "fma.rn.f3"},
             {"fma.rn.f32", ""},
             {"", "fma.rn.f32"},
             {"HMMA.16816.F32", "HMMA.16816.F32.BF16"},
             {"st.*.v4.*", "st.global.v2.u32"},
             {"st.*.v4.*", "ld.global.v4.u32"},
             {"atom.*add.f64|red.*add.f64", "atom.global.add.f32"},
             {"wmma.mma.*.f32.f32", "wmma.mma.sync.m16n16k16.f32.bf16.bf16.f32"},
             {"DMMA.*", "DMMA"}})
        CHECK_MESSAGE(!opcode_matches(row.first, row.second), row.first, " ", row.second);
}

TEST_CASE("static.opcodes: PTX is taken apart") {
    const Listing listing = list_ptx(ptx_text(kWmma + kStore) + ptx_text("bra L;\nL: exit;", "other"));
    REQUIRE(listing.size() == 2);
    CHECK(listing.at("cudamatrix_tc_bf16") ==
          std::set<std::string>{"mov.u32", "ret", "st.global.f32",
                                "wmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f32"});
    CHECK(listing.at("other") == std::set<std::string>{"bra", "exit", "ret"});
    CHECK(list_ptx("").empty());
    CHECK(list_ptx("/* .entry a() { ret; } */ // .entry b() { ret; }").empty());
    CHECK(list_ptx(".entry declared(.param .u32 p);").empty());
    const Listing scoped =
        list_ptx(".entry k()\n{\n{ ld.shared::cta.b64 %r1, [x]; }\n}\n.func f() { trap; }");
    CHECK(scoped.at("k") == std::set<std::string>{"ld.shared::cta.b64"});
    for (const char* cut :
         {".entry", ".entry k", ".entry k(", ".entry k() {", ".entry k() { ld", ".entry k() { a {"})
        CHECK_MESSAGE(list_ptx(cut).size() <= 1, cut);
}

TEST_CASE("static.opcodes: what nvdisasm writes is taken apart") {
    const Listing listing = list_sass(
        "\t.section\t.text.k,\"ax\"\n        /*0000*/ NOP ;\n.text.k:\n        /*0000*/                   MOV R1, c[0x0][0x28] ;\n"
        "        /*0010*/              @!P1 EXIT ;\n        /*0020*/       { DMMA.8x8x4 R2, R2, R4, R2  ;\n.L_x_0:\n"
        "//---- .text.j ----\n.text.j:\n        /*0000*/  EXIT;\n");
    CHECK(listing.at("k") == std::set<std::string>{"DMMA.8x8x4", "EXIT", "MOV"});
    CHECK(listing.at("j") == std::set<std::string>{"EXIT"});
    CHECK(list_sass("garbage\n/*").empty());
}

TEST_CASE("static.opcodes: whole code passes; without nvdisasm its record says so") {
    const Built built(good_program());
    const Record record = built.judged();
    CHECK(record.status == Status::pass);
    CHECK(record.fault == "");
    CHECK(record.summary ==
          "1 instructions in the PTX of 1 programs, machine code not looked at: the image has no nvdisasm");
    CHECK(evidence_of(record, "sass") == "\"not looked at: the image has no nvdisasm\"");
    CHECK(evidence_of(record, "opcodes").find("ptx 9.0: wmma.mma.sync.aligned.row.row.m16n16k16") !=
          std::string::npos);
    CHECK(evidence_of(record, "without_ptx") == "");
}

TEST_CASE("static.opcodes: an empty kernel is F6, and its summary says where") {
    const auto judged = [](const std::vector<fixture::Blob>& entries, const std::string& compute = "") {
        Built built(fixture::program(entries));
        built.context.compute = compute;
        return built.judged();
    };
    const fixture::Blob good = ptx(90, ptx_text(kWmma + kStore));
    const Record ptx_empty = judged({sass(90, 1024), ptx(90, ptx_text(""))});
    CHECK(ptx_empty.status == Status::fail);
    CHECK(ptx_empty.reason == "empty_kernel");
    CHECK(ptx_empty.fault == "F6");
    CHECK(ptx_empty.summary == "tc_bf16 ptx 9.0: cudamatrix_tc_bf16 is empty");
    // It computes, and nobody ever sees it.
    CHECK(judged({sass(90, 1024), ptx(90, ptx_text(kWmma))}).fault == "F6");
    const Record sass_empty = judged({sass(80, 128), sass(90, 1024), good});
    CHECK(sass_empty.summary == "tc_bf16 sass 8.0: cudamatrix_tc_bf16 is empty");
    CHECK(sass_empty.fault == "F6");
    // Below 8.0 it has to be empty, unless that is what the cell's GPU runs.
    CHECK(judged({sass(75, 128), sass(90, 1024), good}, "7.5").status == Status::pass);
    CHECK(judged({sass(75, 128), ptx(75, ptx_text(""))}, "7.5").status == Status::pass);
    const Record old = judged({sass(75, 128), ptx(75, ptx_text(""))}, "9.0");
    CHECK(old.fault == "F6");
    CHECK(old.summary == "tc_bf16 ptx 7.5: cudamatrix_tc_bf16 is empty, and this is what runs on 9.0");
}

TEST_CASE("static.opcodes: PTX that lacks what the test is about") {
    const auto summary = [](const fixture::Blob& program) {
        const Record record = Built(program).judged();
        CHECK(record.status == Status::fail);
        CHECK(record.reason == "opcodes");
        CHECK(record.fault == "");
        return record.summary;
    };
    const auto with = [](const std::string& text) {
        return fixture::program({sass(90, 1024), ptx(90, text)});
    };
    const std::string missing =
        "tc_bf16 ptx 9.0: cudamatrix_tc_bf16 has no wmma.mma.*.m16n16k16.f32.bf16.bf16.f32";
    CHECK(summary(with(ptx_text(kStore))) == missing);
    CHECK(summary(with(ptx_text("/* " + kWmma + "*/" + kStore))) == missing);
    CHECK(summary(with(ptx_text("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f1};" + kStore))) ==
          missing);
    CHECK(summary(with(ptx_text("fma.rn.f32 %f1, %f2, %f3, %f4;" + kStore))) == missing);
    CHECK(summary(with(ptx_text(kWmma + kStore, "cudamatrix_other"))) ==
          "tc_bf16 ptx 9.0: cudamatrix_tc_bf16 is not there");
    CHECK(summary(fixture::program({sass(90, 1024), ptx(90, ptx_text(kWmma + kStore), true)})) ==
          "tc_bf16 ptx 9.0: the PTX is compressed and cannot be read");
    CHECK(summary(fixture::program({sass(90, 1024, "library")})) ==
          "tc_bf16 readable: none of our kernels is in it");
    CHECK(summary(fixture::Blob().text("not an ELF file")).find("tc_bf16 readable") == 0);
}

TEST_CASE("static.opcodes: machine code, where the image can take it apart") {
    const Built built(good_program());
    built.add_tool("13.2", kGoodSass);
    const Record good = built.judged();
    CHECK(good.status == Status::pass);
    CHECK(good.summary == "1 instructions in the PTX of 1 programs, 1 in their machine code");
    CHECK(evidence_of(good, "sass") == "\"read by nvdisasm 13.2\"");
    CHECK(evidence_of(good, "opcodes").find("sass 9.0: HMMA.16816.F32.BF16") != std::string::npos);
    for (const char* other : {"", "  /*0000*/ HMMA.16816.F32 R4, R8, R12, R4 ;",
                              "  /*0000*/ FFMA R4, R8, R12, R4 ;", "HMMA.16816.F32.BF16 in a remark"}) {
        built.add_tool("13.0", other);
        const Record record = built.judged();
        CHECK_MESSAGE(record.status == Status::fail, other);
        CHECK(record.summary == "tc_bf16 sass 9.0: cudamatrix_tc_bf16 has no HMMA.16816.F32.BF16");
    }
    Built elsewhere(good_program());
    elsewhere.add_tool("13.2", "");
    elsewhere.context.compute = "12.0";  // runs the PTX: the machine code for 9.0 is not looked at
    CHECK(elsewhere.judged().status == Status::pass);
}

TEST_CASE("static.opcodes: a tool that cannot be used is told, and never a fault of the kernels") {
    const Built built(good_program());
    built.add_tool("12.4", "");
    CHECK(evidence_of(built.judged(), "sass") ==
          "\"not looked at: nvdisasm 12.4 is older than nvcc 13.0.88\"");
    CHECK(built.judged().status == Status::pass);
    built.add_tool("unknown", "");
    CHECK(evidence_of(built.judged(), "sass").find("does not tell its release") != std::string::npos);
    built.add_tool("13.0", kGoodSass, 3);
    CHECK(built.judged().status == Status::pass);
    CHECK(evidence_of(built.judged(), "sass_unread") == "[\"tc_bf16 sass 9.0: exit code 3: \"]");
}

TEST_CASE("static.opcodes: programs without PTX are named; nothing built is no pass") {
    Built built(fixture::program({sass(90, 1024)}));
    const Record record = built.judged();
    CHECK(record.status == Status::pass);
    CHECK(evidence_of(record, "without_ptx") == "[\"tc_bf16\"]");
    built.write_static("skip");
    CHECK(built.judged().reason == "no_nvcc");
    built.write_static("pass");
    std::filesystem::remove(built.folder().path() + "/bin/tc_bf16");
    CHECK(built.judged().reason == "prereq_failed");
    std::filesystem::remove(built.folder().path() + "/static.jsonl");
    CHECK(built.judged().status == Status::error);
}
