#ifndef RETRACE_OP_H_
#define RETRACE_OP_H_

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <vector>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace retrace {

/** Inputs and outputs of one call of an op, in TensorFlow's C interface. Outputs are new memory, never an input's. */
class OpCall {
 public:
  explicit OpCall(TF_OpKernelContext* context);
  ~OpCall();
  OpCall(const OpCall&) = delete;
  OpCall& operator=(const OpCall&) = delete;

  /** Float elements of an input. */
  const float* Floats(int input);
  const int32_t* Ints(int input);
  int64_t Dim(int input, int axis);
  int64_t Size(int input);

  float* Output(int output, std::initializer_list<int64_t> shape);
  /** Allocates an output with the shape of an input. */
  float* OutputLike(int output, int input);

  /** Ends the op with an error. */
  void Fail(const char* why);

 private:
  TF_Tensor* Input(int input);
  float* Allocate(int output, const int64_t* shape, int rank);

  TF_OpKernelContext* context_;
  TF_Status* status_;
  std::vector<TF_Tensor*> inputs_;
  std::vector<TF_Tensor*> outputs_;
};

/** Registers an op whose inputs and outputs have TensorFlow's notation ("x: float"). */
void RegisterOp(const char* name, std::initializer_list<const char*> inputs,
                std::initializer_list<const char*> outputs, void (*compute)(void*, TF_OpKernelContext*));

/** Runs kCompute, whose exceptions end the op with an error. The C interface requires a plain function for each op. */
template <void (*kCompute)(OpCall&)>
void RunOp(void*, TF_OpKernelContext* context) {
  OpCall call(context);
  try {
    kCompute(call);
  } catch (const std::exception& error) {
    call.Fail(error.what());
  }
}

/** Throws unless `holds`. */
void Require(bool holds, const char* rule);

}  // namespace retrace

#endif  // RETRACE_OP_H_
