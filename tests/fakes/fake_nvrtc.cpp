// A libnvrtc for tests. It knows the architectures of CUDA 12.4 from 7.5 on, and answers as its environment
// says:
//   FAKE_NVRTC_VERSION  what nvrtcVersion reports (default 12.4); "none": it fails
//   FAKE_NVRTC_NEEDS    a library without which compiling answers 7
//   FAKE_NVRTC          what compiling answers (default 0); FAKE_NVRTC_PTX, FAKE_NVRTC_LTO where that is
//   asked for FAKE_NVRTC_LOG      what it says then FAKE_NVRTC_CODE     its defect: arch (code for 7.5), name
//   (another kernel), text (no cubin), empty, cut
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "unit/fatbin/fixture.hpp"

namespace {

std::string variable(const char* name, const char* fallback = "") {
    const char* text = std::getenv(name);
    return text != nullptr ? text : fallback;
}

struct Program {
    std::string source;
    std::string log;
    std::string cubin;
    std::string ptx;
    std::string lto;
};

std::string cubin_for(unsigned sm, const std::string& kernel) {
    const fixture::Blob blob = fixture::cubin({kernel}, {190, 0x33, 7, sm});
    return fixture::string_of(blob);
}

std::string ptx_for(unsigned sm, const std::string& kernel) {
    return "// made\n.version 8.4\n.target sm_" + std::to_string(sm) +
           "\n.address_size 64\n.visible .entry " + kernel + "(\n)\n{ ret; }\n";
}

int copy(const std::string& text, char* to) {
    std::memcpy(to, text.data(), text.size());
    return 0;
}

bool is_loaded(const std::string& library) {
    std::ifstream in("/proc/self/maps");
    const std::string maps((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    return maps.find("/" + library + "\n") != std::string::npos;
}

int made(const std::string& text, std::size_t* size) {
    *size = text.size();
    return 0;
}

int fail(Program& program, const std::string& code, const std::string& log) {
    program.log = log;
    return std::atoi(code.c_str());
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
    const std::string text = variable("FAKE_NVRTC_VERSION", "12.4");
    *major = std::atoi(text.c_str());
    *minor = std::atoi(text.substr(text.find('.') + 1).c_str());
    return text == "none" ? 1 : 0;
}

int nvrtcCreateProgram(void** program, const char* source, const char*, int headers, const char* const*,
                       const char* const*) {
    if (source == nullptr || headers != 0) return 3;
    auto* made_one = new Program;
    made_one->source = source;
    *program = made_one;
    return 0;
}

int nvrtcDestroyProgram(void** program) {
    delete static_cast<Program*>(*program);
    *program = nullptr;
    return 0;
}

int nvrtcCompileProgram(void* handle, int count, const char* const* options) {
    auto& program = *static_cast<Program*>(handle);
    const std::string first = count > 0 ? options[0] : "";
    const bool lto = count > 1 && std::string(options[1]) == "-dlto";
    const auto at = first.rfind('_');
    const std::string number = at == std::string::npos ? "" : first.substr(at + 1);
    const bool virtual_arch = first == "--gpu-architecture=compute_" + number;
    const bool ptx = virtual_arch && !lto;
    if (!virtual_arch && first != "--gpu-architecture=sm_" + number)
        return fail(program, "5", "nvrtc: error: which option?\n");
    bool known = false;
    for (const char* arch : {"75", "80", "86", "89", "90"})
        known = known || number == arch;
    if (!known) return fail(program, "5", "nvrtc: error: invalid value for --gpu-architecture (-arch)\n");
    const std::string needed = variable("FAKE_NVRTC_NEEDS");
    if (!needed.empty() && !is_loaded(needed))
        return fail(program, "7", "nvrtc: error: failed to open " + needed + ".\n");
    const std::string answer = variable(ptx   ? "FAKE_NVRTC_PTX"
                                        : lto ? "FAKE_NVRTC_LTO"
                                              : "FAKE_NVRTC",
                                        variable("FAKE_NVRTC", "0").c_str());
    if (answer != "0") return fail(program, answer, variable("FAKE_NVRTC_LOG"));
    const std::string defect = variable("FAKE_NVRTC_CODE");
    const unsigned sm = defect == "arch" ? 75U : static_cast<unsigned>(std::atoi(number.c_str()));
    const std::string kernel = defect == "name" ? "another" : "cudamatrix_jit";
    program.cubin = ptx ? "" : cubin_for(sm, kernel);
    program.ptx = ptx_for(sm, kernel);
    program.lto = lto ? "LTO-IR " + program.source : "";
    if (defect == "text") program.cubin = program.ptx = "nothing of the kind, at any length that is needed";
    if (defect == "empty") program.cubin = program.ptx = "";
    if (defect == "cut") program.cubin.resize(program.cubin.size() / 2);
    if (defect == "cut") program.ptx.resize(8);
    return 0;
}

int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
    return made(static_cast<Program*>(program)->log, size);
}
int nvrtcGetProgramLog(void* program, char* to) {
    return copy(static_cast<Program*>(program)->log, to);
}
int nvrtcGetCUBINSize(void* program, std::size_t* size) {
    return made(static_cast<Program*>(program)->cubin, size);
}
int nvrtcGetCUBIN(void* program, char* to) {
    return copy(static_cast<Program*>(program)->cubin, to);
}
int nvrtcGetPTXSize(void* program, std::size_t* size) {
    return made(static_cast<Program*>(program)->ptx, size);
}
int nvrtcGetPTX(void* program, char* to) {
    return copy(static_cast<Program*>(program)->ptx, to);
}
int nvrtcGetLTOIRSize(void* program, std::size_t* size) {
    return made(static_cast<Program*>(program)->lto, size);
}
int nvrtcGetLTOIR(void* program, char* to) {
    return copy(static_cast<Program*>(program)->lto, to);
}

}  // extern "C"
