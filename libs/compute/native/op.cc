#include "op.h"

#include <stdexcept>
#include <string>

namespace retrace {

OpCall::OpCall(TF_OpKernelContext* context) : context_(context), status_(TF_NewStatus()) {
  inputs_.resize(TF_NumInputs(context), nullptr);
}

OpCall::~OpCall() {
  if (TF_GetCode(status_) != TF_OK) TF_OpKernelContext_Failure(context_, status_);
  for (TF_Tensor* tensor : inputs_) {
    if (tensor != nullptr) TF_DeleteTensor(tensor);
  }
  for (TF_Tensor* tensor : outputs_) TF_DeleteTensor(tensor);
  TF_DeleteStatus(status_);
}

TF_Tensor* OpCall::Input(int input) {
  if (inputs_[input] == nullptr) TF_GetInput(context_, input, &inputs_[input], status_);
  return inputs_[input];
}

const float* OpCall::Floats(int input) { return static_cast<const float*>(TF_TensorData(Input(input))); }

const int32_t* OpCall::Ints(int input) { return static_cast<const int32_t*>(TF_TensorData(Input(input))); }

int64_t OpCall::Dim(int input, int axis) { return TF_Dim(Input(input), axis); }

int64_t OpCall::Size(int input) { return TF_TensorElementCount(Input(input)); }

float* OpCall::Output(int output, std::initializer_list<int64_t> shape) {
  return Allocate(output, shape.begin(), static_cast<int>(shape.size()));
}

float* OpCall::OutputLike(int output, int input) {
  std::vector<int64_t> shape(TF_NumDims(Input(input)));
  for (size_t axis = 0; axis < shape.size(); axis++) shape[axis] = Dim(input, static_cast<int>(axis));
  return Allocate(output, shape.data(), static_cast<int>(shape.size()));
}

float* OpCall::Allocate(int output, const int64_t* shape, int rank) {
  int64_t size = 1;
  for (int axis = 0; axis < rank; axis++) size *= shape[axis];
  TF_Tensor* tensor =
      TF_AllocateOutput(context_, output, TF_FLOAT, shape, rank, size * sizeof(float), status_);
  if (tensor == nullptr) throw std::runtime_error("an output could not be allocated");
  outputs_.push_back(tensor);
  return static_cast<float*>(TF_TensorData(tensor));
}

void OpCall::Fail(const char* why) { TF_SetStatus(status_, TF_INVALID_ARGUMENT, why); }

void Require(bool holds, const char* rule) {
  if (!holds) throw std::invalid_argument(rule);
}

namespace {

void Check(TF_Status* status, const char* name) {
  if (TF_GetCode(status) == TF_OK) return;
  const std::string message = std::string(name) + ": " + TF_Message(status);
  TF_DeleteStatus(status);
  throw std::runtime_error(message);
}

/** Leaves shapes unknown: ops run eagerly, and only a graph would infer shapes. */
void InferNothing(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(context, status);
}

void* CreateNothing(TF_OpKernelConstruction*) { return nullptr; }

void DeleteNothing(void*) {}

}  // namespace

void RegisterOp(const char* name, std::initializer_list<const char*> inputs,
                std::initializer_list<const char*> outputs, void (*compute)(void*, TF_OpKernelContext*)) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* definition = TF_NewOpDefinitionBuilder(name);
  for (const char* input : inputs) TF_OpDefinitionBuilderAddInput(definition, input);
  for (const char* output : outputs) TF_OpDefinitionBuilderAddOutput(definition, output);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(definition, &InferNothing);
  TF_RegisterOpDefinition(definition, status);
  Check(status, name);
  TF_KernelBuilder* kernel = TF_NewKernelBuilder(name, "CPU", &CreateNothing, compute, &DeleteNothing);
  TF_RegisterKernelBuilder(name, kernel, status);
  Check(status, name);
  TF_DeleteStatus(status);
}

}  // namespace retrace
