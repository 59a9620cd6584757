"""Chat templates: Jinja programs that come with a model and turn a conversation into its prompt.

They run as in `transformers`, with the same sandbox, functions and variables, so that the text, and
therefore the ids, are the same. This package knows nothing of tokenizers;
:meth:`tokexport.Tokenizer.apply_chat_template` passes it the templates of a file. If a template
only puts fixed texts between messages, it finds these texts, the frame, for use without Jinja.
"""
