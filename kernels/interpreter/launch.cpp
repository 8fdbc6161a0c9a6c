#include "kernels/interpreter/launch.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <thread>

#include "kernels/interpreter/gang.hpp"

namespace cudamatrix::suite::ptx {
namespace {

std::uint64_t address_of(const Module& module, const Variable& variable) {
    switch (variable.space) {
        case Space::shared:
            // Dynamic shared memory has no size; it lies behind all the rest, see below.
            return (variable.in_function ? module.shared_size : 0) + variable.offset;
        case Space::param:
            return variable.offset;
        default:
            return variable.address;
    }
}

void relocate(const Module& module, Function& function) {
    for (const Relocation& relocation : function.relocations) {
        const Variable& variable = relocation.in_function ? function.variables[relocation.variable]
                                                          : module.variables[relocation.variable];
        std::uint64_t address = address_of(module, variable);
        if (variable.space == Space::shared && variable.size == 0)
            address = (module.shared_size + function.shared_size + 15) / 16 * 16;
        Row& row = function.constants[relocation.constant];
        std::fill(std::begin(row.lane), std::end(row.lane),
                  address + static_cast<std::uint64_t>(relocation.offset));
    }
}

/// Values of a variable; what refers to a function stays unwritten.
void initialise(Module& module, const Variable& variable, DeviceMemory& memory) {
    std::vector<std::uint8_t> bytes = variable.initial;
    bytes.resize(variable.size, 0);
    memory.copy_in(variable.address, bytes.data(), bytes.size());
    for (const Variable::Reference& reference : variable.references) {
        const auto known = module.variable_index.find(reference.name);
        const Allocation* allocation = memory.find(variable.address);
        if (known == module.variable_index.end()) {
            std::fill_n(allocation->written.get() + reference.at, 8, std::uint8_t{0});
            continue;
        }
        const std::uint64_t address =
            module.variables[known->second].address + static_cast<std::uint64_t>(reference.offset);
        memory.copy_in(variable.address + reference.at, &address, sizeof address);
    }
}

void run_blocks(Launch& state) {
    const std::uint64_t gangs = Gang::count(state.request);
    Gang gang(state);
    while (!state.stop) {
        const std::uint64_t next = state.next_gang++;
        if (next >= gangs) return;
        int code = 0;
        std::string text;
        try {
            gang.run(next);
            continue;
        } catch (const Fault& fault) {
            code = static_cast<int>(fault.code);
            text = fault.what();
        } catch (const std::bad_alloc&) {
            code = static_cast<int>(FaultCode::launch_failure);
            text = "the interpreter has no memory left";
        }
        const std::lock_guard<std::mutex> hold(state.lock);
        state.stop = true;
        if (gang.current() > state.fault_block) return;
        state.fault_block = gang.current();
        state.result.code = code;
        state.result.error = text;
    }
}

void run_once(Launch& state) {
    const unsigned processors = state.options.threads != 0
                                    ? state.options.threads
                                    : std::max(1U, std::thread::hardware_concurrency());
    const auto count = static_cast<unsigned>(std::min<std::uint64_t>(processors, Gang::count(state.request)));
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < count; ++i)
        helpers.emplace_back(run_blocks, std::ref(state));
    run_blocks(state);
    for (std::thread& helper : helpers)
        helper.join();
    state.result.warp_instructions = state.steps;
}

/// What grid.sync counts in: as large as a block of cooperative_groups' own, and zero.
const Allocation* make_workspace(DeviceMemory& memory) {
    const std::uint64_t address = memory.allocate(kWorkspaceSize, "workspace of grid.sync");
    if (address == 0) return nullptr;
    memory.fill(address, 0, kWorkspaceSize);
    return memory.find(address);
}

LaunchResult run_schedules(const LaunchRequest& request, DeviceMemory& memory, const RunOptions& options,
                           const Allocation* workspace) {
    static std::atomic<std::uint32_t> launches{0};
    const unsigned schedules = std::max(1U, options.schedules);
    DeviceMemory::Snapshot before;
    if (schedules > 1) before = memory.save();
    LaunchResult total;
    for (unsigned schedule = 0; schedule < schedules; ++schedule) {
        if (schedule > 0) memory.restore(before);
        if (options.races) memory.prepare_races();
        Launch state(request, memory, options);
        state.workspace = workspace;
        state.schedule = schedule;
        state.last_schedule = schedule + 1 == schedules;
        state.number = launches++ % 4095 + 1;
        run_once(state);
        total.warp_instructions += state.result.warp_instructions;
        total.code = state.result.code;
        total.error = state.result.error;
        if (total.code != 0) return total;
    }
    return total;
}

}  // namespace

std::string text_of(const Dim3& at) {
    return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

void Launch::print(const std::string& text) {
    if (!last_schedule) return;
    const std::lock_guard<std::mutex> hold(lock);
    if (options.print) return options.print(text);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

bool load_module(Module& module, DeviceMemory& memory, std::string& error) {
    for (Variable& variable : module.variables) {
        if (variable.space == Space::shared || variable.external) continue;
        variable.address = memory.allocate(variable.size, "variable " + variable.name);
        if (variable.address != 0) continue;
        error = "no device memory for variable " + variable.name;
        return false;
    }
    for (const Variable& variable : module.variables) {
        if (variable.space != Space::shared && !variable.external) initialise(module, variable, memory);
    }
    for (const auto& function : module.functions)
        relocate(module, *function);
    return true;
}

void unload_module(Module& module, DeviceMemory& memory) {
    for (Variable& variable : module.variables) {
        if (variable.address != 0) memory.release(variable.address);
        variable.address = 0;
    }
}

LaunchResult launch(const LaunchRequest& request, DeviceMemory& memory, const RunOptions& options) {
    if (!request.cooperative) return run_schedules(request, memory, options, nullptr);
    const Allocation* workspace = make_workspace(memory);
    if (workspace == nullptr)
        return {static_cast<int>(FaultCode::launch_failure), "no device memory for grid.sync", 0};
    LaunchResult result = run_schedules(request, memory, options, workspace);
    memory.release(workspace->address);
    return result;
}

}  // namespace cudamatrix::suite::ptx
