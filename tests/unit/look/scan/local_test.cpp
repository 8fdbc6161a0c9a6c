#include "look/scan/local.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "temp_folder.hpp"
#include "unit/look/scan/fixture.hpp"

using namespace cudamatrix;
using namespace cudamatrix::scan;
using fixture::Blob;
using fixture::message;
namespace fs = std::filesystem;

namespace {

struct Folder : test::TempFolder {
    [[nodiscard]] std::string path() const { return TempFolder::path().string(); }
    std::string write(const std::string& name, const Blob& blob) const {
        return put(name, {reinterpret_cast<const char*>(blob.bytes().data()), blob.size()});
    }
};

std::vector<std::string> paths(const Scan& scan) {
    std::vector<std::string> out;
    for (const Library& library : scan.libraries)
        out.push_back(library.path);
    return out;
}

const Blob kProgram = fixture::program({fixture::sass(80, {"k"})});

}  // namespace

TEST_CASE("a folder: libraries with code and damaged ones, by path; links and other files are passed over") {
    const Folder folder;
    folder.write("b/libb.so", kProgram);
    folder.write("a/liba.a", fixture::archive({{"a.o", kProgram}}));
    folder.write("plain.so", fixture::elf({{".text", 1, Blob().text("code"), 0}}));
    folder.write("note.txt", Blob().text("text"));
    folder.write("empty", Blob());
    folder.write("broken.so", fixture::elf({}).put<std::uint64_t>(40, 1U << 30));
    folder.write("bad\x1b[31mname.so", kProgram);
    fs::create_symlink(folder.path(), folder.path() + "/b/loop");
    fs::create_symlink("/", folder.path() + "/out");
    fs::create_symlink(folder.path() + "/b/libb.so", folder.path() + "/link.so");
    REQUIRE(::mkfifo((folder.path() + "/fifo").c_str(), 0600) == 0);

    const auto scan = scan_local(folder.path(), {});
    REQUIRE(scan.ok());
    CHECK(scan->kind == "folder");
    CHECK(scan->files == 7);
    CHECK(scan->not_read.empty());
    CHECK(paths(*scan) ==
          std::vector<std::string>{"a/liba.a", "b/libb.so", "bad\x1b[31mname.so", "broken.so"});
    CHECK(scan->libraries[3].error == "ELF section table lies outside the file");
    CHECK(scan->libraries[0].members == 1);
}

TEST_CASE("a link to a folder may be the target itself") {
    const Folder folder;
    folder.write("real/lib.so", kProgram);
    fs::create_symlink("real", folder.path() + "/link");
    const auto scan = scan_local(folder.path() + "/link", {});
    REQUIRE(scan.ok());
    CHECK(paths(*scan) == std::vector<std::string>{"lib.so"});
}

TEST_CASE("every byte of every file, where that is asked for") {
    const Folder folder;
    folder.write("firmware.bin",
                 Blob().text("header").append(fixture::container({fixture::sass(90, {"k"})})));
    CHECK(scan_local(folder.path(), {})->libraries.empty());
    Options deep;
    deep.depth.everywhere = true;
    const auto scan = scan_local(folder.path(), deep);
    REQUIRE(paths(*scan) == std::vector<std::string>{"firmware.bin"});
    CHECK(scan->libraries[0].hidden_containers == 1);
    CHECK(scan->libraries[0].searched);
}

TEST_CASE("a library is looked at again, to its last byte, before it is said to lack something") {
    const Blob blob = fixture::elf({{".nv_fatbin", 1, fixture::container({fixture::sass(75, {"k"})}), 0},
                                    {".ldata", 1, fixture::container({fixture::sass(90, {"k"})}), 0}});
    Depth depth;
    depth.look_again = [](const Library& library) { return library.offer.all().size() == 1; };
    CHECK(read_library("f", blob.view(), depth).offer.all().size() == 2);
    depth.look_again = [](const Library&) { return false; };
    CHECK(read_library("f", blob.view(), depth).offer.all().size() == 1);
}

TEST_CASE("progress is told at the start and after each fifth, of large parts alone") {
    std::string told;
    Options options;
    options.progress = [&](const std::string& line) { told += line + "\n"; };
    Meter large(options, "lib\x1b.so", 64U << 20, 1000);
    for (int i = 0; i < 110; ++i)
        large.add(10);
    CHECK(told ==
          "lib?.so (67 MB): 0 %\nlib?.so (67 MB): 20 %\nlib?.so (67 MB): 40 %\n"
          "lib?.so (67 MB): 60 %\nlib?.so (67 MB): 80 %\nlib?.so (67 MB): 100 %\n");
    told.clear();
    Meter small(options, "lib.so", (16U << 20) - 1, 1000);
    small.add(1000);
    CHECK(told.empty());
    Meter at_once(options, "lib.so", 16U << 20, 1000);
    at_once.add(1000);
    CHECK(told == "lib.so (17 MB): 0 %\nlib.so (17 MB): 100 %\n");
}

TEST_CASE("targets that are none") {
    const Folder folder;
    CHECK(message(scan_local(folder.path() + "/nothing", {})) ==
          "cannot read " + folder.path() + "/nothing: No such file or directory");
    const auto text = folder.write("a.txt", Blob().text("hello, world"));
    CHECK(message(scan_local(text, {})) ==
          text + ": neither an ELF file, a static library, a cubin nor a fat binary");
    const auto stripped = folder.write("s.so", fixture::elf({}).put<std::uint64_t>(40, 0));
    CHECK(message(scan_local(stripped, {})) ==
          stripped + ": ELF file without a section table (stripped of it)");
    const auto thin = folder.write("t.a", Blob().text("!<thin>\n"));
    CHECK(message(scan_local(thin, {})) ==
          thin + ": a thin archive: it names the files of its members and holds none of their bytes");
    REQUIRE(::mkfifo((folder.path() + "/fifo").c_str(), 0600) == 0);
    CHECK(message(scan_local(folder.path() + "/fifo", {})) ==
          folder.path() + "/fifo is neither a file nor a folder");
    for (const auto& path : {text, stripped, thin})
        CHECK(scan_local(path, {}).failure().code == ExitCode::bad_input);
}

TEST_CASE("folders in folders without end are given up") {
    const Folder folder;
    std::string deep = folder.path();
    for (int i = 0; i < 140; ++i) {
        deep += "/d";
        REQUIRE(::mkdir(deep.c_str(), 0700) == 0);
    }
    const auto scan = scan_local(folder.path(), {});
    REQUIRE(scan->not_read.size() == 1);
    CHECK(scan->not_read[0].why == "more than 128 folders in each other");
}
