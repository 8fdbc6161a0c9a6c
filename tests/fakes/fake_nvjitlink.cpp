// A libnvJitLink for tests. It knows the architectures of CUDA 12.4 from 7.5 on and PTX up to 8.4, and
// answers as its environment says:
//   FAKE_LINK_VERSION  what nvJitLinkVersion reports (default 12.4); "none": it fails
//   FAKE_LINK_PTX, FAKE_LINK_LTO  what linking answers (default 0), with FAKE_LINK_LOG
//   FAKE_LINK_CREATE   what it answers to the options instead
//   FAKE_LINK_ARCH     how it refuses an architecture: "ptxas" as 12.x does (default), or as 13.0 does
//   FAKE_LINK_NEWER    how it takes PTX that is too new: "taken", or "else" for another reason to refuse it
//   FAKE_LINK_CODE     its defect: arch (code for 7.5), name (another kernel), text (no cubin), empty, cut
// Built a second time with OLD_NAMES, it has the names of 12.0 only and does not say its version.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "unit/fatbin/fixture.hpp"

#ifdef OLD_NAMES
#define NAME(name) __nvJitLink##name##_12_0
#else
#define NAME(name) nvJitLink##name
#endif

namespace {

std::string variable(const char* name, const char* fallback = "") {
    const char* text = std::getenv(name);
    return text != nullptr ? text : fallback;
}

struct Link {
    std::string arch;
    bool lto = false;
    int inputs = 0;
    std::string kinds;
    std::string log;
    std::string cubin;
};

bool is_known(const std::string& arch) {
    for (const char* one : {"75", "80", "86", "89", "90"}) {
        if (arch == one) return true;
    }
    return false;
}

int fail(Link& link, int code, const std::string& log) {
    link.log = log;
    return code;
}

int add_ptx(Link& link, const std::string& ptx) {
    if (!is_known(link.arch))
        return fail(link, 4,
                    "ptxas fatal   : Value 'sm_" + link.arch + "' is not defined for option 'gpu-name'\n");
    const std::string newer = variable("FAKE_LINK_NEWER");
    if (ptx.rfind(".version 7.0\n", 0) != 0 && newer == "else")
        return fail(link, 4, "ptxas fatal   : syntax\n");
    if (ptx.rfind(".version 7.0\n", 0) != 0 && newer != "taken")
        return fail(
            link, 4,
            "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.9; current version is '8.4'\n");
    return 0;
}

}  // namespace

extern "C" {

#ifndef OLD_NAMES
int nvJitLinkVersion(unsigned* major, unsigned* minor) {
    const std::string text = variable("FAKE_LINK_VERSION", "12.4");
    *major = static_cast<unsigned>(std::atoi(text.c_str()));
    *minor = static_cast<unsigned>(std::atoi(text.substr(text.find('.') + 1).c_str()));
    return text == "none" ? 1 : 0;
}
#endif

int NAME(Create)(void** handle, std::uint32_t count, const char** options) {
    auto* link = new Link;
    *handle = link;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::string option = options[i];
        if (option.rfind("-arch=sm_", 0) == 0) {
            link->arch = option.substr(9);
        } else if (option == "-lto") {
            link->lto = true;
        } else {
            return fail(*link, 1, "unrecognized option\n");
        }
    }
    const std::string answer = variable("FAKE_LINK_CREATE", "0");
    if (answer != "0") {
        // Without a handle there is no log.
        delete link;
        *handle = nullptr;
        return std::atoi(answer.c_str());
    }
    if (variable("FAKE_LINK_ARCH", "ptxas") == "ptxas" || is_known(link->arch)) return 0;
    const bool removed = link->arch < "75";
    return fail(*link, removed ? 17 : 16, "ERROR: no such architecture\n");
}

int NAME(Destroy)(void** handle) {
    delete static_cast<Link*>(*handle);
    *handle = nullptr;
    return 0;
}

int NAME(AddData)(void* handle, int kind, const void* data, std::size_t size, const char* name) {
    auto& link = *static_cast<Link*>(handle);
    const std::string bytes(static_cast<const char*>(data), size);
    if (name == nullptr || (kind != 2 && kind != 3)) return 3;
    link.inputs += 1;
    link.kinds += kind == 2 ? "p" : "l";
    if (kind == 2) return add_ptx(link, bytes);
    if (!link.lto) return fail(link, 18, "LTO-IR input cannot be used without LTO enabled (-lto)\n");
    return bytes.rfind("LTO-IR ", 0) == 0 ? 0 : fail(link, 3, "bad input\n");
}

int NAME(Complete)(void* handle) {
    auto& link = *static_cast<Link*>(handle);
    if (link.kinds != "p" && link.kinds != "ll") return fail(link, 6, "something is undefined\n");
    const std::string answer = variable(link.kinds == "p" ? "FAKE_LINK_PTX" : "FAKE_LINK_LTO", "0");
    if (answer != "0") return fail(link, std::atoi(answer.c_str()), variable("FAKE_LINK_LOG"));
    const std::string defect = variable("FAKE_LINK_CODE");
    const unsigned sm = defect == "arch" ? 75U : static_cast<unsigned>(std::atoi(link.arch.c_str()));
    const std::string kernel = defect == "name" ? "another" : "cudamatrix_jit";
    const fixture::Blob blob = fixture::cubin({kernel}, {190, 0x33, 7, sm});
    link.cubin = fixture::string_of(blob);
    if (defect == "text") link.cubin = "nothing of the kind";
    if (defect == "empty") link.cubin.clear();
    if (defect == "cut") link.cubin.resize(link.cubin.size() / 2);
    return 0;
}

int NAME(GetErrorLogSize)(void* handle, std::size_t* size) {
    *size = static_cast<Link*>(handle)->log.size() + 1;
    return 0;
}
int NAME(GetErrorLog)(void* handle, char* to) {
    const std::string& log = static_cast<Link*>(handle)->log;
    std::memcpy(to, log.c_str(), log.size() + 1);
    return 0;
}
int NAME(GetLinkedCubinSize)(void* handle, std::size_t* size) {
    *size = static_cast<Link*>(handle)->cubin.size();
    return 0;
}
int NAME(GetLinkedCubin)(void* handle, void* to) {
    const std::string& cubin = static_cast<Link*>(handle)->cubin;
    std::memcpy(to, cubin.data(), cubin.size());
    return 0;
}

}  // extern "C"
